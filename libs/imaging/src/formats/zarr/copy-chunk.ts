import { type PixelType, type Rect, sampleBytes } from '@halogrid/geometry';
import type { PlaneTarget } from '../../planes/plane-target.ts';
import { writeRows } from '../../planes/write-rows.ts';
import type { DecodedChunk } from './chunk-decoder.ts';

/**
 * Copies what a region has of a chunk, or of a chunk that has the same value everywhere, to the region's planes.
 * `outer` is the place of the plane in the chunk; `area`, where the chunk lies in the plane.
 */
export function copyChunk(
  chunk: DecodedChunk | number,
  outer: readonly number[],
  area: Rect,
  region: Rect,
  pixel: PixelType,
  to: PlaneTarget,
): void {
  const left = Math.max(area.x, region.x);
  const top = Math.max(area.y, region.y);
  const width = Math.min(area.x + area.width, region.x + region.width) - left;
  const bottom = Math.min(area.y + area.height, region.y + region.height);
  const row = pixel === 'u8' ? new Uint8Array(width) : new Uint16Array(width);
  if (typeof chunk === 'number') row.fill(chunk);
  for (let y = top; y < bottom; y++) {
    const pixels = typeof chunk === 'number' ? row : rowOf(chunk, outer, y - area.y, left - area.x, row);
    const offset = to.offset + (y - region.y) * to.stride + (left - region.x) * sampleBytes[pixel];
    writeRows({ pixels, channels: 1, width, rows: 1 }, { ...to, offset });
  }
}

/** Samples of a row from `x` on, as many as `row` has: a view of them, or `row`, if they do not lie side by side. */
function rowOf(
  { data, stride }: DecodedChunk,
  outer: readonly number[],
  y: number,
  x: number,
  row: Uint8Array | Uint16Array,
): Uint8Array | Uint16Array {
  const [rowStep, step] = stride.slice(-2) as [number, number];
  const start = outer.reduce((at, index, i) => at + index * stride[i]!, 0) + y * rowStep + x * step;
  if (step === 1) return data.subarray(start, start + row.length);
  for (let i = 0; i < row.length; i++) row[i] = data[start + i * step]!;
  return row;
}
