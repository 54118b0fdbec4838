import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { apart } from './appearance.ts';
import { apartOfCells, middleOfEight } from './compare-cells.ts';

const shares = (length: number) =>
  fc.array(fc.oneof(fc.constant(0), fc.float({ min: 0, max: 1, noNaN: true })), {
    minLength: length,
    maxLength: length,
  });
const shapes = fc.record({
  rows: fc.integer({ min: 1, max: 3 }),
  columns: fc.integer({ min: 1, max: 3 }),
  bins: fc.integer({ min: 1, max: 19 }),
});

test('all cells of two frames are as far apart as each cell by itself', () => {
  const pairs = shapes.chain((shape) => {
    const length = shape.rows * shape.columns * shape.bins;
    return fc.tuple(fc.constant(shape), shares(length), shares(length), fc.nat(length));
  });
  fc.assert(
    fc.property(pairs, ([shape, one, other, empty]) => {
      const [a, b] = [Float32Array.from(one), Float32Array.from(other).fill(0, empty)];
      const distances = [...apartOfCells(a, b, shape)];
      assert.equal(distances.length, shape.rows * shape.columns);
      for (const [cell, distance] of distances.entries()) {
        assert.ok(Math.abs(distance - apart(a, b, cell, shape.bins)) < 1e-12, `cell ${cell}`);
      }
    }),
  );
});

test('the middle four values of each bin count, out of eight frames', () => {
  const frames = fc
    .integer({ min: 1, max: 9 })
    .chain((length) => fc.array(shares(length), { minLength: 8, maxLength: 8 }));
  fc.assert(
    fc.property(frames, (eight) => {
      const expected = eight[0]!.map((_, bin) => {
        const [, , c, d, e, f] = eight.map((frame) => Math.fround(frame[bin]!)).sort((a, b) => a - b);
        return Math.fround((c! + d! + e! + f!) / 4);
      });
      assert.deepEqual([...middleOfEight(eight.map((frame) => Float32Array.from(frame)))], expected);
    }),
  );
});
