import assert from 'node:assert/strict';
import { test } from 'node:test';
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
