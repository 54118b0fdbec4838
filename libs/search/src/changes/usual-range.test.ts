import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { UsualRange } from './usual-range.ts';

test('the limit is the median and so many deviations of the last values', () => {
  const range = new UsualRange(5);
  for (const value of [9, 9, 1, 2, 3, 4, 100]) range.add(value);
  assert.equal(range.median, 3);
  // Deviations from 3 of 1, 2, 3, 4 and 100: their median is 1.
  assert.equal(range.limit(2).toFixed(4), (3 + 2 * 1.4826).toFixed(4));
});

test('equal values have a small deviation all the same', () => {
  const range = new UsualRange(8);
  for (let i = 0; i < 4; i++) range.add(0.5);
  assert.ok(range.limit(8) > 0.5 && range.limit(8) < 0.52);
});

test('whatever came before, the last values alone count', () => {
  const values = fc.array(fc.oneof(fc.float({ min: 0, max: 1, noNaN: true }), fc.constantFrom(0, 0.25, 1)), {
    minLength: 1,
    maxLength: 40,
  });
  const median = (numbers: number[]): number => {
    const [sorted, middle] = [numbers.toSorted((a, b) => a - b), numbers.length >> 1];
    return numbers.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  };
  fc.assert(
    fc.property(values, fc.integer({ min: 1, max: 9 }), (all, size) => {
      const range = new UsualRange(size);
      for (const value of all) range.add(value);
      const last = all.slice(-size);
      const expected = median(last);
      const deviation = 1.4826 * median(last.map((value) => Math.fround(Math.abs(value - expected))));
      assert.equal(range.median, expected);
      assert.equal(range.deviation, Math.max(0.002, deviation));
    }),
  );
});
