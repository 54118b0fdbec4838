import assert from 'node:assert/strict';
import test from 'node:test';
import { spreadOf } from './statistics.ts';

test('the median is the middle value, or the mean of the middle two', () => {
  assert.deepEqual(spreadOf([3, 1, 2]), { median: 2, min: 1, max: 3 });
  assert.deepEqual(spreadOf([4, 1, 2, 3]), { median: 2.5, min: 1, max: 4 });
  assert.deepEqual(spreadOf([7]), { median: 7, min: 7, max: 7 });
});
