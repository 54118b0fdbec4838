import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countTiles, cutTiles } from './cut-tiles.ts';

test('tiles cover every pixel exactly once, none is larger than requested, and countTiles returns their number', () => {
  const side = fc.integer({ min: 1, max: 60 });
  fc.assert(
    fc.property(side, side, side, (width, height, tilePx) => {
      const tiles = [...cutTiles({ width, height }, tilePx)];
      assert.equal(tiles.length, countTiles({ width, height }, tilePx));
      const covered = new Uint8Array(width * height);
      for (const tile of tiles) {
        assert.ok(tile.width >= 1 && tile.width <= tilePx && tile.height >= 1 && tile.height <= tilePx);
        assert.ok(tile.x + tile.width <= width && tile.y + tile.height <= height);
        for (let y = tile.y; y < tile.y + tile.height; y++) {
          for (let x = tile.x; x < tile.x + tile.width; x++) covered[y * width + x]!++;
        }
      }
      assert.ok(covered.every((times) => times === 1));
    }),
  );
});

test('tiles come row by row, and the last ones of rows and columns may be smaller', () => {
  assert.deepEqual(
    [...cutTiles({ width: 5, height: 3 }, 2)].map(({ x, y, width, height }) => [x, y, width, height]),
    [
      [0, 0, 2, 2],
      [2, 0, 2, 2],
      [4, 0, 1, 2],
      [0, 2, 2, 1],
      [2, 2, 2, 1],
      [4, 2, 1, 1],
    ],
  );
});
