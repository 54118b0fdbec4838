import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StageSpans } from './stage-spans.ts';

test('a stage lasts from its first moment to its last, and the shard until its end', () => {
  let ms = 5_000;
  const spans = new StageSpans(() => ms);
  ms = 5_500;
  spans.add('read', 5_250);
  ms = 7_000;
  spans.add('decode', 5_750);
  ms = 8_000;
  spans.add('read', 7_500);
  ms = 9_000;
  assert.deepEqual(spans.end(), [
    { stage: 'shard', from: 0, to: 4 },
    { stage: 'read', from: 0.25, to: 3 },
    { stage: 'decode', from: 0.75, to: 2 },
  ]);
});
