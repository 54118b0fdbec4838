import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countsIn, readRegion } from './region.ts';

const pipeline = {
  operations: [],
  grid: { rows: 2, columns: 3 },
  channels: ['gray'],
  bins: 2,
  convention: '',
  resultsVersion: 2,
};

test('a region is a cell, or all cells from one corner to the other', () => {
  const counts = Float64Array.from({ length: 12 }, (_, i) => i + 1);
  assert.deepEqual([...countsIn(readRegion('1,2'), pipeline, counts)], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11, 12]);
  assert.deepEqual([...countsIn(readRegion('0,1-1,2'), pipeline, counts)], [0, 0, 3, 4, 5, 6, 0, 0, 9, 10, 11, 12]);
});

test('what is no region of the grid is refused', () => {
  for (const text of ['', '1', '1,2-', '1,2-0,2', '0,2-1,1', '-1,0', 'a,b']) {
    assert.throws(
      () => readRegion(text),
      new RegExp(`^UsageError: Expected cells as ROW,COLUMN .* but received '${text}'$`),
    );
  }
  const sentence = /^UsageError: Expected cells of a grid of 2x3 for --region but received 2,0$/;
  assert.throws(() => countsIn(readRegion('0,0-2,0'), pipeline, new Float64Array(12)), sentence);
});
