import sharp from 'sharp';
import { type ChunkSet, copyRows, readChunkRows } from './chunk-reader.ts';
import { previewRect } from './preview-grid.ts';
import { writeFileAtomically } from './write-file-atomically.ts';

/**
 * Makes the preview of a source from its preview chunks: an 8-bit gray PNG of at most 1024 pixels a side at `to`, whose
 * folder must exist. Rejects with one sentence where a chunk is missing or damaged.
 */
export async function assemblePreview({ scratch, source, size, rects, to }: ChunkSet & { to: string }): Promise<void> {
  const { width, height } = previewRect({ x: 0, y: 0, ...size }, size);
  const pixels = new Uint8Array(width * height);
  for (const rect of rects) {
    const area = previewRect(rect, size);
    if (area.width === 0 || area.height === 0) continue;
    const part = new Uint8Array(area.width * area.height);
    await readChunkRows({ scratch, kind: 'preview', source, size, rect }, area, 0, part);
    copyRows(part, area.width, pixels, area.y * width + area.x, width);
  }
  const image = sharp(pixels, { raw: { width, height, channels: 1 } });
  await writeFileAtomically(to, await image.toColourspace('b-w').png().toBuffer());
}
