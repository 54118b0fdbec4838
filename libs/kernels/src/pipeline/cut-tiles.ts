import type { Rect, Size } from '@halogrid/geometry';

/**
 * Side of the tiles that images are cut into unless something else is asked for. 4096 x 4096 is 16 MiB of luma: reading
 * a halo of 1 costs 0.1 % more pixels, a dispatch keeps a large GPU busy, and a gigapixel image still makes 64 shards
 * to spread.
 */
export const defaultTilePx = 4096;

/** How many tiles cutTiles gives. */
export function countTiles(size: Size, tilePx: number): number {
  return Math.ceil(size.width / tilePx) * Math.ceil(size.height / tilePx);
}

/** Cuts an image into tiles, row by row; those at the right and at the bottom are what is left. */
export function* cutTiles(size: Size, tilePx: number): Generator<Rect> {
  for (let y = 0; y < size.height; y += tilePx) {
    for (let x = 0; x < size.width; x += tilePx) {
      yield { x, y, width: Math.min(tilePx, size.width - x), height: Math.min(tilePx, size.height - y) };
    }
  }
}
