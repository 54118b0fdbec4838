import assert from 'node:assert/strict';
import test from 'node:test';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { cellsOf, checkGrid, type Grid } from './grid.ts';

const side = fc.integer({ min: 1, max: 30 });
const size = fc.record({ width: side, height: side });
const grid = fc.record({ rows: fc.integer({ min: 1, max: 40 }), columns: fc.integer({ min: 1, max: 40 }) });

/** The definition, pixel by pixel: the last cell that begins at or before `at`. */
function cellOf(at: number, count: number, length: number): number {
  let cell = 0;
  for (let i = 0; i < count; i++) if (Math.floor((i * length) / count) <= at) cell = i;
  return cell;
}

test('the cells of any rectangle contain each of its pixels once, in the cell of the definition', () => {
  fc.assert(
    fc.property(size, grid, fc.nat(29), fc.nat(29), side, side, (image, cut, left, top, w, h) => {
      const [x, y] = [left % image.width, top % image.height];
      const rect = { x, y, width: Math.min(w, image.width - x), height: Math.min(h, image.height - y) };
      const owners = new Map<string, string>();
      let last = -1;
      for (const { row, column, rect: part } of cellsOf(cut, image, rect)) {
        assert.ok(part.width > 0 && part.height > 0);
        assert.ok(row * cut.columns + column > last, 'row by row');
        last = row * cut.columns + column;
        for (let py = part.y; py < part.y + part.height; py++) {
          for (let px = part.x; px < part.x + part.width; px++) {
            assert.ok(!owners.has(`${px},${py}`));
            owners.set(`${px},${py}`, `${row},${column}`);
          }
        }
      }
      assert.equal(owners.size, rect.width * rect.height);
      for (let py = y; py < y + rect.height; py++) {
        for (let px = x; px < x + rect.width; px++) {
          const wanted = `${cellOf(py, cut.rows, image.height)},${cellOf(px, cut.columns, image.width)}`;
          assert.equal(owners.get(`${px},${py}`), wanted);
        }
      }
    }),
    { numRuns: runs(300) },
  );
});

const gray256 = { output: { sample: 'u8', channels: ['gray'] }, bins: 256 } as const;
const refused: [Grid, RegExp][] = [
  [{ rows: 0, columns: 1 }, /^Expected whole numbers of rows and columns from 1 for the grid but received '0x1'$/],
  [{ rows: 1.5, columns: 1 }, /received '1.5x1'$/],
  [
    { rows: 513, columns: 512 },
    /^Expected at most 262144 cells \(of 256 bins each\) for the grid but received '513x512'$/,
  ],
];
for (const [cut, sentence] of refused) {
  test(`a grid of ${cut.rows} x ${cut.columns} is refused`, () => {
    assert.throws(() => checkGrid(cut, gray256), { message: sentence });
  });
}

test('a grid may have as many bins as a result can carry', () => {
  checkGrid({ rows: 512, columns: 512 }, gray256);
  checkGrid({ rows: 1, columns: 1 }, { ...gray256, bins: 0 });
  assert.throws(() => checkGrid({ rows: 1, columns: 2 }, { ...gray256, bins: 0 }), {
    message: "Expected 1x1, because the results have no histogram, for the grid but received '1x2'",
  });
});
