import { sampleBytes } from '@halogrid/geometry';
import { loadSharp } from '@halogrid/imaging/sharp';
import { type ChunkSet, copyRows, readChunkRows } from '../chunks/chunk-reader.ts';
import { writeFileAtomically } from '../files/atomic-file.ts';
import { bytesPerPixel } from '../layout/map-type.ts';
import { previewRect } from '../layout/preview-grid.ts';
import { pngOptions } from './encodings.ts';
import { previewPicture } from './preview-picture.ts';

export interface PreviewOutput extends ChunkSet {
  /** Path of the file to write; its folder must exist. */
  to: string;
  /** Bins of a channel of the result, or 0 where it has no histogram. */
  levels: number;
}

/**
 * Makes the preview of a source from its preview chunks: an 8-bit PNG of at most 1024 pixels a side, as `previewPicture`
 * draws it. Rejects with one sentence where a chunk is missing or damaged.
 */
export async function assemblePreview(preview: PreviewOutput): Promise<void> {
  const { scratch, source, size, type, rects, to, levels } = preview;
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
  const { pixels, ...raw } = previewPicture(samples, { width, height }, type, levels);
  const sharp = await loadSharp();
  const image = sharp(pixels, { raw }).toColourspace(raw.channels === 3 ? 'srgb' : 'b-w');
  await writeFileAtomically(to, await image.png(pngOptions).toBuffer());
}
