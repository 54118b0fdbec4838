import type { SentAnswers, UnansweredShard } from './conversation-state.ts';

/** A coordinator that is heard of has recorded, by then, what was sent to it this long before. */
const recordedMs = 5_000;
/** More are hardly on their way at once, and each is copied with the state of the conversation. */
const mostSent = 200;

/**
 * Adds an answer. Failures are not kept: one that is sent twice could count twice. Neither are shards whose files go
 * through the coordinator: they end with the connection.
 */
export function addSent(sent: SentAnswers, leaseId: number, shard: UnansweredShard, nowMs: number): SentAnswers {
  if (shard.answer?.kind !== 'shardCompleted' || shard.lease.handOver !== '') return sent;
  return [...sent.slice(1 - mostSent), { leaseId, shard, sentMs: nowMs }];
}

/**
 * The shards whose answers may be lost with the connection, by lease number. `heardMs`: when the coordinator was heard
 * of last. They are as shards that wait in a part, because they use none of the node's credit.
 */
export function perhapsLost(sent: SentAnswers, heardMs: number): [number, UnansweredShard][] {
  const lost = sent.filter(({ sentMs }) => sentMs > heardMs - recordedMs);
  return lost.map(({ leaseId, shard }) => [leaseId, { ...shard, isInPart: true, wasSent: true }]);
}
