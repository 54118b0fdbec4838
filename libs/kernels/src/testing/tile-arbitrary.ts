import type { Rect, Size } from '@halogrid/geometry';
import fc from 'fast-check';

/** A tile of an image of noise, in every position: inside, at the edges, or the whole image. */
interface TestTile {
  size: Size;
  tile: Rect;
  levels: number;
  seed: number;
}

/** Tiles of images of at most `width` x `height` pixels. */
export function tileArbitrary(width: number, height: number): fc.Arbitrary<TestTile> {
  return fc
    .record({
      width: fc.oneof(fc.integer({ min: 1, max: Math.min(4, width) }), fc.integer({ min: 1, max: width })),
      height: fc.oneof(fc.integer({ min: 1, max: Math.min(4, height) }), fc.integer({ min: 1, max: height })),
      left: fc.nat(width - 1),
      top: fc.nat(height - 1),
      tileWidth: fc.integer({ min: 1, max: width }),
      tileHeight: fc.integer({ min: 1, max: height }),
      isWhole: fc.boolean(),
      levels: fc.constantFrom(1, 2, 4, 256),
      seed: fc.integer(),
    })
    .map(({ width, height, left, top, tileWidth, tileHeight, isWhole, levels, seed }) => {
      const x = isWhole ? 0 : left % width;
      const y = isWhole ? 0 : top % height;
      const tile = isWhole
        ? { x, y, width, height }
        : { x, y, width: Math.min(tileWidth, width - x), height: Math.min(tileHeight, height - y) };
      return { size: { width, height }, tile, levels, seed };
    });
}
