import assert from 'node:assert/strict';
import test from 'node:test';
import { spreadOf } from './statistics.ts';

test('the median is the middle value, or the mean of the middle two', () => {
  assert.equal(spreadOf([3, 1, 2]).median, 2);
  assert.equal(spreadOf([4, 1, 2, 3]).median, 2.5);
});

test('the deviation is that of a sample', () => {
  assert.deepEqual(spreadOf([2, 4, 4, 4, 5, 5, 7, 9]), {
    mean: 5,
    median: 4.5,
    stdev: Math.sqrt(32 / 7),
    min: 2,
    max: 9,
  });
  assert.deepEqual(spreadOf([7]), { mean: 7, median: 7, stdev: 0, min: 7, max: 7 });
});
