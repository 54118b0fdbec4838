import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countTicks, histogramBars } from './histogram-bars.js';

test('bars are as high as their counts, and no peak is hidden if bars stand for several bins', () => {
  assert.deepEqual(histogramBars([0, 5, 10], 100, 'linear'), { heights: [0, 0.5, 1], perBar: 1, most: 10 });
  assert.deepEqual(histogramBars([0, 5, 10, 1], 2, 'linear'), { heights: [0.5, 1], perBar: 2, most: 10 });
  assert.deepEqual(histogramBars([], 10, 'log'), { heights: [], perBar: 1, most: 0 });
  const { heights } = histogramBars([0, 9, 99], 10, 'log');
  assert.deepEqual(heights, [0, 0.5, 1]);
});

test('a logarithmic axis has powers of ten, and no more than six ticks', () => {
  assert.deepEqual(
    countTicks(99, 'log', []).map(({ count }) => count),
    [0, 1, 10],
  );
  assert.ok(countTicks(1e15, 'log', []).length <= 7);
  assert.deepEqual(countTicks(10, 'linear', [0, 5, 10]), [
    { count: 0, height: 0 },
    { count: 5, height: 0.5 },
    { count: 10, height: 1 },
  ]);
});
