import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blockGrid } from './block-grid.ts';

const image = (width: number, height: number) => ({ uri: `file:///${width}.png`, width, height });
const block = { rows: 16, columns: 16 };

const table: [width: number, height: number, rows: number, columns: number][] = [
  [256, 128, 8, 16],
  [92, 112, 7, 6],
  [23, 28, 2, 1],
  [7, 4, 1, 1],
];

for (const [width, height, rows, columns] of table) {
  test(`blocks of 16 x 16 in ${width} x ${height}: ${rows}x${columns}`, () => {
    assert.deepEqual(blockGrid([image(width, height), image(width, height)], block), { rows, columns });
  });
}

test('images of two sizes have no grid of blocks in common', () => {
  assert.throws(() => blockGrid([image(32, 32), image(33, 32)], block), {
    name: 'UsageError',
    message:
      "Expected images of one size for --block but 'file:///32.png' is 32 x 32 and 'file:///33.png' 33 x 32: --grid cuts each into as many cells",
  });
});
