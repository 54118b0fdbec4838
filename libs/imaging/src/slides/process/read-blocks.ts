import type { Rect } from '@halogrid/geometry';
import { type Colour, overBackground } from './over-background.ts';

/**
 * The side of the blocks that OpenSlide is asked for. Where a level is not a whole number of times smaller, OpenSlide
 * interpolates by the place that it is asked for. So pixels are defined as what it gives for these blocks, and do not
 * depend on the tiles of a job.
 */
export const blockPx = 256;

/** Reads a block of a level: `x` and `y` in pixels of the level. The result is used until the next call. */
export type ReadBlock = (block: Rect) => Uint32Array;

/** Red, green and blue of a region of a level of that size. */
export function readBlocks(
  region: Rect,
  { width, height }: { width: number; height: number },
  background: Colour,
  read: ReadBlock,
): Uint8Array {
  const rgb = new Uint8Array(3 * region.width * region.height);
  const [right, bottom] = [region.x + region.width, region.y + region.height];
  for (let y = region.y - (region.y % blockPx); y < bottom; y += blockPx) {
    for (let x = region.x - (region.x % blockPx); x < right; x += blockPx) {
      const block = { x, y, width: Math.min(blockPx, width - x), height: Math.min(blockPx, height - y) };
      const argb = read(block);
      const from = Math.max(x, region.x);
      const to = Math.min(x + block.width, right);
      for (let row = Math.max(y, region.y); row < Math.min(y + block.height, bottom); row++) {
        const start = (row - y) * block.width - x;
        const at = 3 * ((row - region.y) * region.width + from - region.x);
        overBackground(argb.subarray(start + from, start + to), background, rgb, at);
      }
    }
  }
  return rgb;
}
