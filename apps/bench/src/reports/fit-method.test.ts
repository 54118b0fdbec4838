import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitMethod } from './measure-table.ts';

const method = { repetitions: 30, images: 5 };

for (const [estimateMs, cellMs, expected] of [
  [undefined, 1, method],
  [1, 1000, method],
  // 100 runs: 20 an image, of which two warm up.
  [10, 1000, { images: 5, repetitions: 18 }],
  [200, 1000, { images: 1, repetitions: 3 }],
  [333, 1000, { images: 1, repetitions: 1 }],
  [334, 1000, undefined],
] as const) {
  test(`of ${estimateMs} ms a sample, ${cellMs} ms hold ${JSON.stringify(expected)}`, () => {
    assert.deepEqual(fitMethod(method, estimateMs, cellMs), expected);
  });
}
