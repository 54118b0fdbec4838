import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitMethod } from './measure-table.ts';

const method = { repetitions: 30, images: 5 };

for (const [estimateMs, cellMs, expected] of [
  [undefined, 1, method],
  [1, 1000, method],
  // 100 runs: 20 an image.
  [10, 1000, method],
  // 7 runs: two images, which warm up twice each.
  [140, 1000, { ...method, images: 2 }],
  [1000, 1000, { ...method, images: 1 }],
  [1001, 1000, undefined],
] as const) {
  test(`of ${estimateMs} ms a sample, ${cellMs} ms hold ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(fitMethod(method, estimateMs, cellMs), expected);
  });
}
