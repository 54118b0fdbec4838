import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShardCompleted } from '@halogrid/proto';
import { toShardAnswer } from './answer-message.ts';

test('only possible seconds and known names are taken', () => {
  const seconds = { decode: 2, read: -1, encode: Number.NaN, device: Number.POSITIVE_INFINITY };
  const answer = toShardAnswer(
    ShardCompleted.fromPartial({
      stageSeconds: { ...seconds, sleep: 3, dream: 4 },
      busySeconds: { ...seconds, shard: 5, sleep: 3 },
    }),
  );
  assert.deepEqual(answer.stageSeconds, { decode: 2, other: 7 });
  assert.deepEqual(answer.busySeconds, { decode: 2, shard: 5 });
});
