import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueueTime } from './queue-time.ts';

test('only the time in which shards waited counts, and each second once', () => {
  const time = new QueueTime();
  time.look(1_000, 3);
  time.look(1_500, 2);
  assert.equal(time.take(), 0.5);
  time.look(3_000, 0);
  time.look(9_000, 1);
  time.look(9_250, 0);
  assert.equal(time.take(), 1.75);
  assert.equal(time.take(), 0);
});
