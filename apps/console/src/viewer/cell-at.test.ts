import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cellAt } from './cell-at.js';

test('a pixel is in the cell whose rows and columns hold it', () => {
  const side = fc.integer({ min: 1, max: 5000 });
  const parts = fc.integer({ min: 1, max: 64 });
  fc.assert(
    fc.property(
      side,
      side,
      parts,
      parts,
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (width, height, rows, columns, share) => {
        const cell = cellAt({ x: share, y: share }, { width, height }, { rows, columns });
        const [row, column] = [Math.floor(cell / columns), cell % columns];
        const holds = (i: number, of: number, count: number) =>
          Math.floor((i * of) / count) <= Math.floor(share * of) &&
          Math.floor(share * of) < Math.floor(((i + 1) * of) / count);
        assert.ok(holds(row, height, rows), `row ${row}`);
        assert.ok(holds(column, width, columns), `column ${column}`);
      },
    ),
  );
});
