import assert from 'node:assert/strict';
import { test } from 'node:test';
import { framesOfFull, segmentFrames } from './segments-writer.ts';

test('a segment has a number of frames, fewer if they have many cells, and at least one', () => {
  for (const [cells, frames] of [
    [1, segmentFrames],
    [16, segmentFrames],
    [32_400, 517],
    [2 ** 24 + 1, 1],
  ] as const) {
    assert.equal(framesOfFull(cells), frames);
  }
});
