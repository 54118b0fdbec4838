import assert from 'node:assert/strict';
import { test } from 'node:test';
import { laneRuns } from './lane-runs.js';

test('a lane has a run for each stretch of one shade, and a gap while the node had no shard', () => {
  assert.deepEqual(laneRuns([1, 1, 0, 0.1, 2, 2], 2), [
    { from: 0, to: 2, shade: 3 },
    { from: 3, to: 4, shade: 1 },
    { from: 4, to: 6, shade: 5 },
  ]);
  assert.deepEqual(laneRuns([0, 0], 1), []);
});
