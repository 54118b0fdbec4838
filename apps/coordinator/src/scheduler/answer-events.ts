import type { Comparable, Failure, LeaseId } from './events.ts';
import { findLease, leaseTo, leaseToAll, release, requeue, retryFailed, shareAnew } from './leases.ts';
import { isBadNode } from './node-health.ts';
import { contest, hear } from './opinions.ts';
import type { AttachedNode, HeldLease, Opinion, Turn } from './scheduler-state.ts';

export function shardCompleted<A extends Comparable>(
  turn: Turn<A>,
  event: { session: number; lease: LeaseId; answer: A },
): void {
  const { session, lease, answer } = event;
  const { state, now } = turn;
  const node = state.nodes.get(session);
  if (!node) return;
  const opinion: Opinion = { nodeId: node.nodeId, session, lease, leasedAtMs: now, isCheck: false, answer };
  const held = findLease(state, node, lease);
  if (typeof held === 'string') {
    contest(turn, opinion);
    recordVain(turn, node, lease, held);
    return;
  }
  release(state, held);
  // The reference is far slower than a device, and says nothing about it.
  if (!held.isCheck && !held.isAdopted) {
    node.rate.add(held.entry.shard.costBytes, held.sinceMs, now);
    held.entry.job.durations.add(now - held.sinceMs);
  }
  node.health.add(false);
  // What failed elsewhere is computed here.
  for (const nodeId of held.entry.failedOn) setAsideBad(turn, nodeId, 'Another node could compute it');
  hear(turn, held.entry, { ...opinion, leasedAtMs: held.sinceMs, isCheck: held.isCheck });
  leaseTo(turn, node);
}

export function shardFailed<A>(turn: Turn<A>, event: { session: number; lease: LeaseId; failure: Failure }): void {
  const { session, lease, failure } = event;
  const current = currentLease(turn, session, lease);
  if (!current) return;
  const { node, entry } = current;
  release(turn.state, current);
  // Of results that cannot be written, the folder they all share is as likely to be the cause.
  if (!failure.isOutput) {
    node.health.add(true, entry);
    setAsideBad(turn, node.nodeId, failure.error);
  }
  retryFailed(turn, entry, node.nodeId, lease, failure);
  leaseToAll(turn);
}

/** The node stops and has not computed the shard: its next attempt has the number of this one. */
export function shardReturned<A>(turn: Turn<A>, event: { session: number; lease: LeaseId }): void {
  const current = currentLease(turn, event.session, event.lease);
  if (!current) return;
  const { entry, attempt } = current;
  release(turn.state, current);
  if (attempt === entry.attempts && entry.held.length === 0) entry.attempts--;
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
  entry.opinions = [];
  entry.committed = undefined;
  entry.job.contestable.delete(lease.shard);
  retryFailed(turn, entry, nodeId, lease, { error, isOutput: false });
  leaseToAll(turn);
}

/** A node that is alone and fails everything is set aside so often, and others are waited for, before its jobs fail. */
const maxAsideAlone = 2;

/** Sets the node aside for a while where it is a bad one: its failures then blame no shard. `error` is the last of them. */
function setAsideBad<A>(turn: Turn<A>, nodeId: string, error: string): void {
  const { state, now, commands } = turn;
  const node = state.nodesById.get(nodeId);
  if (!node?.health.isSuspect) return;
  const { health } = node;
  const others = [...state.nodes.values()].filter((other) => other !== node).map((other) => other.health);
  const isAlone = others.length === 0;
  if (isAlone ? !health.failsEverything : !isBadNode(health, others)) return;
  const { failures, answers: of } = health;
  if (isAlone && health.timesAside >= maxAsideAlone) failJobs(turn, nodeId, error);
  const forMs = health.setAside(now);
  state.health.set(nodeId, health);
  commands.push({ kind: 'RecordSetAside', nodeId, forMs, failures, of });
  for (const job of state.jobs.values()) {
    for (const entry of job.open.values()) {
      if (entry.failedOn.length > 0) entry.failedOn = entry.failedOn.filter((id) => id !== nodeId);
    }
  }
  shareAnew(turn);
}

/** Fails the jobs of which the node, for lack of another, has failed shards again and again. */
function failJobs<A>({ state, commands }: Turn<A>, nodeId: string, last: string): void {
  const error = `Node ${nodeId}, the only one there is, failed every shard that it was given, and no other came: ${last}`;
  for (const { jobId, open } of state.jobs.values()) {
    const isFailed = [...open.values()].some(({ failedOn }) => failedOn.includes(nodeId));
    if (isFailed) commands.push({ kind: 'FailJob', jobId, error });
  }
}

/** What the node answers for; an answer to any other lease is recorded as given in vain, and changes nothing. */
function currentLease<A>(turn: Turn<A>, session: number, lease: LeaseId): HeldLease | undefined {
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
