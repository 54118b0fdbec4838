import type { SentAnswers, UnansweredShard } from './conversation-state.ts';

/** A coordinator that is heard of has recorded, by then, what was sent to it this long before. */
const recordedMs = 5_000;
/** More are hardly on their way at once, and each is copied with the state of the conversation. */
const mostSent = 200;
/** Bytes of counts in them. Answers about frames have none, because their counts are in parts. */
const mostBytes = 16 * 2 ** 20;

/**
 * Adds an answer; the earliest go if there are too many. Three kinds are not kept. Failures could count twice.
 * Answers of the reference could confirm themselves at a coordinator of an earlier version. Shards whose files go
 * through the coordinator end with the connection.
 */
export function addSent(sent: SentAnswers, leaseId: number, shard: UnansweredShard, nowMs: number): SentAnswers {
  const { lease, answer } = shard;
  if (answer?.kind !== 'shardCompleted' || lease.verify || lease.handOver !== '') return sent;
  const all = [...sent, { leaseId, shard, sentMs: nowMs }];
  let bytes = 0;
  const first = all.findLastIndex((one, i) => {
    bytes += bytesOf(one.shard);
    return bytes > mostBytes || all.length - i > mostSent;
  });
  return all.slice(first + 1);
}

/** The memory of an answer's counts, which may be views of larger buffers. */
function bytesOf({ answer }: UnansweredShard): number {
  if (answer?.kind !== 'shardCompleted') return 0;
  const buffers = new Set(answer.report.results.map(({ bins }) => bins.buffer));
  return buffers.values().reduce((sum, { byteLength }) => sum + byteLength, 0);
}

/** The answers that may be lost with the connection. `heardMs`: when the coordinator was heard of last. */
export const unrecorded = (sent: SentAnswers, heardMs: number): SentAnswers =>
  sent.length === 0 ? sent : sent.filter(({ sentMs }) => sentMs > heardMs - recordedMs);

/**
 * Shards of answers that may be lost, by lease number. They are as shards that wait in a part, because they use none of
 * the node's credit.
 */
export const shardsOf = (sent: SentAnswers): [number, UnansweredShard][] =>
  sent.map(({ leaseId, shard }) => [leaseId, { ...shard, isInPart: true, wasSent: true }]);
