import { stat } from 'node:fs/promises';
import { type PixelType, sampleBytes } from '@halogrid/geometry';
import { loadSharp } from '@halogrid/imaging/sharp';
import { chunkPath } from '../chunks/chunk.ts';
import { type ChunkSet, copyRows, readChunkRows, readFully, withChunkFile } from '../chunks/chunk-reader.ts';
import { addSums, blocksOf, meansOf, sumBytes } from '../chunks/source-sums.ts';
import { writeFileAtomically } from '../files/atomic-file.ts';
import { bytesPerPixel, type MapType } from '../layout/map-type.ts';
import { previewRect } from '../layout/preview-grid.ts';
import { jpegOptions, pngOptions } from './encodings.ts';
import { type PreviewPicture, previewPicture } from './preview-picture.ts';

export interface PreviewOutput extends ChunkSet {
  /** Path of the file to write; its folder must exist. */
  to: string;
  /** Bins per channel of the result; 0 without a histogram. */
  levels: number;
}

/**
 * Makes the preview of a source from its preview chunks: an 8-bit PNG of at most 1024 pixels a side, as
 * `previewPicture` draws it. Rejects with one sentence if a chunk is missing or damaged.
 */
export async function assemblePreview({ to, ...preview }: PreviewOutput): Promise<void> {
  const picture = await assemble(preview);
  await writeFileAtomically(to, await (await sharpOf(picture)).png(pngOptions).toBuffer());
}

/**
 * Makes the picture of a source, of 1 or 3 bands, from the sums in its chunks: a JPEG of at most 1024 pixels a side.
 * Pixels of 16 bits are scaled so that the largest is white. Rejects with one sentence if a chunk is missing or
 * damaged.
 */
export async function assembleSourcePicture({
  bands,
  to,
  ...set
}: Omit<ChunkSet, 'type'> & { bands: number; to: string }): Promise<void> {
  const sample = await pixelsOf(set, bands);
  const type: MapType = { sample, bands };
  const whole = blocksOf({ ...set, type, rect: { x: 0, y: 0, ...set.size } });
  const sums = new Uint32Array(whole.width * whole.height * bands);
  for (const rect of set.rects) {
    const part = { ...set, type, rect };
    const blocks = blocksOf(part);
    const bytes = new Uint8Array(blocks.width * blocks.height * bands * sumBytes(part));
    await withChunkFile({ ...part, kind: 'sums' }, bytes.length, (file) => readFully(file, bytes, 0));
    addSums(part, bytes, sums);
  }
  const picture = previewPicture(meansOf(set.size, type, sums), whole, type, sample === 'u8' ? 256 : 0);
  await writeFileAtomically(to, await (await sharpOf(picture)).jpeg(jpegOptions).toBuffer());
}

/** The type of pixels, from the name of the first chunk. The first rectangle always has a sampled pixel. */
async function pixelsOf(set: Omit<ChunkSet, 'type'>, bands: number): Promise<PixelType> {
  const [rect] = set.rects;
  const wide = chunkPath({ ...set, kind: 'sums', type: { sample: 'u16', bands }, rect: rect! });
  return (await stat(wide).catch(() => undefined)) ? 'u16' : 'u8';
}

async function assemble(set: Omit<PreviewOutput, 'to'>): Promise<PreviewPicture> {
  const { scratch, source, size, type, rects, levels } = set;
  const { width, height } = previewRect({ x: 0, y: 0, ...size }, size, type.bands);
  const unit = sampleBytes[type.sample];
  const samples = new Uint8Array(width * height * bytesPerPixel(type));
  for (const rect of rects) {
    const area = previewRect(rect, size, type.bands);
    if (area.width === 0 || area.height === 0) continue;
    const bands = Array.from({ length: type.bands }, () => new Uint8Array(area.width * area.height * unit));
    await readChunkRows({ scratch, kind: 'preview', source, size, type, rect }, area, 0, bands);
    bands.forEach((part, band) => {
      const at = ((band * height + area.y) * width + area.x) * unit;
      copyRows(part, area.width * unit, samples, at, width * unit);
    });
  }
  return previewPicture(samples, { width, height }, type, levels);
}

async function sharpOf({ pixels, ...raw }: PreviewPicture) {
  const sharp = await loadSharp();
  return sharp(pixels, { raw }).toColourspace(raw.channels === 3 ? 'srgb' : 'b-w');
}
