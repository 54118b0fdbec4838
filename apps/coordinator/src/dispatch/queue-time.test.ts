import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueueTime } from './queue-time.ts';

test('only the time in which shards waited counts, and each second once', () => {
  const time = new QueueTime();
  time.look(1_000, true, false);
  time.look(1_500, true, false);
  assert.deepEqual(time.take(), { queued: 0.5, others: 0 });
  time.look(3_000, false, false);
  time.look(9_000, true, false);
  time.look(9_250, false, false);
  assert.deepEqual(time.take(), { queued: 1.75, others: 0 });
  assert.deepEqual(time.take(), { queued: 0, others: 0 });
});

test('the time in which nodes had shards of other jobs is counted beside it', () => {
  const time = new QueueTime();
  time.look(0, true, true);
  time.look(2_000, true, false);
  time.look(3_000, false, true);
  time.look(9_000, false, true);
  assert.deepEqual(time.take(), { queued: 3, others: 2 });
});
