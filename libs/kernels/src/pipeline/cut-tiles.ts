import type { Rect, Size } from '@halogrid/geometry';

/**
 * The default side of the tiles that images are cut into. 4096 x 4096 is 16 MiB of luma: a halo of 1 costs 0.1 % more
 * pixels, a dispatch keeps a large GPU busy, and a gigapixel image still makes 64 shards to spread.
 */
export const defaultTilePx = 4096;

/** The number of tiles that cutTiles returns. */
export function countTiles(size: Size, tilePx: number): number {
  return Math.ceil(size.width / tilePx) * Math.ceil(size.height / tilePx);
}

/** Cuts an image into tiles, row by row; the last tiles of rows and columns may be smaller. */
export function* cutTiles(size: Size, tilePx: number): Generator<Rect> {
  for (let y = 0; y < size.height; y += tilePx) {
    for (let x = 0; x < size.width; x += tilePx) {
      yield { x, y, width: Math.min(tilePx, size.width - x), height: Math.min(tilePx, size.height - y) };
    }
  }
}
