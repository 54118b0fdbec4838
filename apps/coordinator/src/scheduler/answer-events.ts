import { acceptAnswer, compareLateAnswer } from './candidates.ts';
import type { Candidate, Comparable, Failure, LeaseId } from './events.ts';
import { findLease, leaseTo, leaseToAll, release, requeue, retryFailed } from './leases.ts';
import type { AttachedNode, Attempt, Turn } from './scheduler-state.ts';
import { setAsideBad } from './set-aside-bad.ts';
import { blameNode, countFailure, vet } from './vetting.ts';

export function shardCompleted<A extends Comparable>(
  turn: Turn<A>,
  event: { session: number; lease: LeaseId; answer: A },
): void {
  const { session, lease, answer } = event;
  const { state, now } = turn;
  const node = state.nodes.get(session);
  if (!node) return;
  const candidate: Candidate = { nodeId: node.nodeId, session, lease, leasedAtMs: now, verify: false, answer };
  const held = findLease(state, node, lease);
  if (typeof held === 'string') {
    compareLateAnswer(turn, candidate);
    recordVain(turn, node, lease, held);
    return;
  }
  release(state, held);
  held.entry.answered = [...held.entry.answered, held.number];
  // The reference is far slower than a device: its time says nothing about the device's rate.
  if (!held.verify && !held.isAdopted) {
    node.rate.add(held.entry.shard.costBytes * (answer.goodShare ?? 1), held.sinceMs, held.inPartSinceMs ?? now);
    held.entry.job.durations.add(now - held.sinceMs);
  }
  const answered = { ...candidate, leasedAtMs: held.sinceMs, verify: held.verify };
  if (answer.isDoubtful) {
    // A node that fails fast must not get more leases for it.
    node.isOnProbation = true;
    vet(turn, held.entry, answered);
  } else acceptAnswer(turn, held.entry, answered);
  leaseTo(turn, node);
}

export function shardFailed<A>(turn: Turn<A>, event: { session: number; lease: LeaseId; failure: Failure }): void {
  const { session, lease, failure } = event;
  const current = currentLease(turn, session, lease);
  if (!current) return;
  const { node, entry } = current;
  const { need, isOutput, error } = failure;
  release(turn.state, current);
  entry.answered = [...entry.answered, current.number];
  countFailure(turn.state, node.nodeId);
  if (!node.health.isProven) node.isOnProbation = true;
  node.rate.add(0, current.sinceMs, turn.now);
  if (need && entry.shard.needs?.includes(need)) {
    blameNode(turn, entry, node.nodeId, need, error);
    turn.commands.push({ kind: 'RecordSetback', nodeId: node.nodeId, lease, setback: 'failed', error });
    requeue(turn, entry, 'failed');
  } else if (isOutput) {
    entry.vetting = lease.attempt;
    turn.commands.push({ kind: 'VetOutput', session, lease, shard: entry.shard, failure });
  } else {
    node.health.add(true, entry);
    setAsideBad(turn, node.nodeId, error);
    retryFailed(turn, entry, node.nodeId, lease, failure);
  }
  leaseToAll(turn);
}

/** The node stops and has not computed the shard: the next attempt gets the same number. */
export function shardReturned<A>(turn: Turn<A>, event: { session: number; lease: LeaseId }): void {
  const current = currentLease(turn, event.session, event.lease);
  if (!current) return;
  const { entry, number } = current;
  release(turn.state, current);
  if (number === entry.attempts && entry.held.length === 0) entry.attempts--;
  requeue(turn, entry, 'lost');
  leaseToAll(turn);
}

export function commitRejected<A>(turn: Turn<A>, event: { lease: LeaseId; error: string }): void {
  const { lease, error } = event;
  const { state } = turn;
  const entry = state.jobs.get(lease.jobId)?.open.get(lease.shard);
  if (entry?.state.kind !== 'settling') return;
  const { nodeId } = entry.state;
  state.nodesById.get(nodeId)?.health.add(true, entry);
  setAsideBad(turn, nodeId, error);
  entry.candidates = [];
  entry.committed = undefined;
  entry.job.contestable.delete(lease.shard);
  retryFailed(turn, entry, nodeId, lease, { error, isOutput: false });
  leaseToAll(turn);
}

/** The lease that the node answers; an answer to another lease is recorded as wasted, and changes nothing. */
function currentLease<A>(turn: Turn<A>, session: number, lease: LeaseId): Attempt | undefined {
  const node = turn.state.nodes.get(session);
  if (!node) return undefined;
  const found = findLease(turn.state, node, lease);
  if (typeof found === 'object') return found;
  recordVain(turn, node, lease, found);
  return undefined;
}

function recordVain<A>(
  { commands }: Turn<A>,
  { nodeId }: AttachedNode,
  lease: LeaseId,
  setback: 'duplicate' | 'stale',
): void {
  const { jobId, shard, attempt } = lease;
  const error = `No such lease is current: job ${jobId}, shard ${shard}, attempt ${attempt}`;
  commands.push({ kind: 'RecordSetback', nodeId, lease, setback, error });
}
