import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FoundResult, Lease, ShardCompleted } from '@halogrid/proto';
import type { SentAnswers, UnansweredShard } from './conversation-state.ts';
import { addSent, unrecorded } from './sent-answers.ts';

/** An answer with counts of that many bytes. */
function answered(bytes = 0, lease: Partial<Lease> = {}): UnansweredShard {
  const results = bytes > 0 ? [{ bins: new Uint32Array(bytes / 4) } as unknown as FoundResult] : [];
  const report = { ...ShardCompleted.create(), results };
  return { lease: Lease.create(lease), answer: { kind: 'shardCompleted', report } };
}

const numbers = (sent: SentAnswers) => sent.map(({ leaseId }) => leaseId);
const addAll = (shards: readonly UnansweredShard[]) =>
  shards.reduce<SentAnswers>((sent, shard, i) => addSent(sent, i, shard, i), []);

test('the latest 200 answers are kept, of at most 16 MiB of counts', () => {
  const all = addAll(Array.from({ length: 250 }, () => answered()));
  assert.deepEqual(
    numbers(all),
    Array.from({ length: 200 }, (_, i) => 50 + i),
  );
  const mebibytes = [9, 5, 2, 8, 3, 5].map((size) => answered(size * 2 ** 20));
  assert.deepEqual(numbers(addAll(mebibytes)), [3, 4, 5]);
  assert.deepEqual(numbers(addAll([answered(), answered(17 * 2 ** 20)])), []);
});

test('failures, answers of the reference, and shards whose files go through the coordinator are not kept', () => {
  const failed: UnansweredShard = {
    lease: Lease.create(),
    answer: { kind: 'shardFailed', error: 'no memory', isOutput: false },
  };
  assert.deepEqual(addAll([failed, answered(0, { verify: true }), answered(0, { handOver: 'http://host/x' })]), []);
});

test('what was sent five seconds before the coordinator was heard of is recorded', () => {
  const sent = addAll([answered(), answered()]);
  assert.deepEqual(
    [0, 5_000, 5_001].map((heardMs) => numbers(unrecorded(sent, heardMs))),
    [[0, 1], [1], []],
  );
});
