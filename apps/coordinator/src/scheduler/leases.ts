import type { AttemptReason } from './commands.ts';
import type { Failure, LeaseId } from './events.ts';
import { chooseShard, leaseLimit } from './placement.ts';
import type { AttachedNode, EntryState, SchedulerState, ShardEntry, Turn } from './scheduler-state.ts';

/** Failures after which a shard is given up. */
export const maxFailures = 3;
/**
 * Nodes that died while they held a shard, after which it is given up as their killer. A node that has attached again
 * under the same id is not dead: its connection broke, which is no shard's fault.
 */
export const maxDeadNodes = 3;
/**
 * Times a shard's node was lost, whether or not it came back, after which it is given up: a node that is restarted under
 * its old id looks like one that reconnected.
 */
export const maxLosses = 10;

/** Leases queued shards to every node that has room, those with the fewest leases first. */
export function leaseToAll<A>(turn: Turn<A>): void {
  const limit = currentLimit(turn.state);
  let waiting = [...turn.state.nodes.values()].filter((node) => !node.isDraining && node.leases.size < limit);
  for (let held = 0; held < limit && waiting.length > 0; held++) {
    waiting = waiting.filter((node) => node.leases.size > held || leaseOne(turn, node));
  }
}

/** Leases queued shards to this node, as many as it may hold. */
export function leaseTo<A>(turn: Turn<A>, node: AttachedNode): void {
  if (node.isDraining) return;
  const limit = currentLimit(turn.state);
  while (node.leases.size < limit && leaseOne(turn, node));
}

function currentLimit({ jobs, nodes }: SchedulerState): number {
  let openShards = 0;
  for (const job of jobs.values()) openShards += job.open.size;
  let activeNodes = 0;
  for (const node of nodes.values()) if (!node.isDraining) activeNodes++;
  return leaseLimit(openShards, activeNodes);
}

function leaseOne<A>({ state, now, commands }: Turn<A>, node: AttachedNode): boolean {
  const entry = chooseShard(state, node);
  if (entry?.state.kind !== 'queued') return false;
  const { job, shard } = entry;
  const { reason, sinceMs } = entry.state;
  (reason === 'first' ? job.fresh : job.retries).remove(entry);
  entry.attempts++;
  entry.state = { kind: 'leased', node, attempt: entry.attempts, sinceMs: now };
  node.leases.add(entry);
  node.leasedBytes += shard.costBytes;
  // Every order carries the deadline of the node's next report.
  node.deadlineMs = now + state.reportWithinMs;
  const lease = { jobId: job.jobId, shard: shard.shard, attempt: entry.attempts, epoch: state.epoch };
  commands.push({ kind: 'AssignShard', session: node.session, lease, shard, reason, waitedMs: now - sinceMs });
  return true;
}

/** The shard and the lease that the node holds under this id, or why it holds none. */
export function findLease(
  state: SchedulerState,
  node: AttachedNode,
  lease: LeaseId,
): { entry: ShardEntry; leased: EntryState & { kind: 'leased' } } | 'duplicate' | 'stale' {
  const job = state.jobs.get(lease.jobId);
  const entry = job?.open.get(lease.shard);
  if (entry?.state.kind === 'leased' && entry.state.node === node) {
    if (entry.state.attempt === lease.attempt && lease.epoch === state.epoch) return { entry, leased: entry.state };
  }
  const isDone = job && !entry && lease.shard < job.planned;
  return isDone || entry?.state.kind === 'settling' ? 'duplicate' : 'stale';
}

/** Takes the shard from the node that holds it. */
export function release(entry: ShardEntry): void {
  if (entry.state.kind !== 'leased') return;
  const { node } = entry.state;
  node.leases.delete(entry);
  node.leasedBytes -= entry.shard.costBytes;
  entry.state = { kind: 'settling', nodeId: node.nodeId };
  entry.job.settling++;
}

/**
 * After a failure on a node, from which it is released: the shard is leased again, or given up. Results that cannot be
 * written are no fault of the sources, so that they fail the job instead.
 */
export function retryFailed<A>(turn: Turn<A>, entry: ShardEntry, lease: LeaseId, failure: Failure): void {
  if (entry.state.kind !== 'settling') return;
  const { nodeId } = entry.state;
  entry.failedOn.push(nodeId);
  const { error, isOutput } = failure;
  if (entry.failedOn.length >= maxFailures) {
    if (isOutput) turn.commands.push({ kind: 'FailJob', jobId: entry.job.jobId, error });
    else giveUp(turn, entry, error);
  } else {
    turn.commands.push({ kind: 'RecordSetback', nodeId, lease, setback: 'failed', error });
    requeue(turn, entry, 'failed');
  }
}

/** Takes every lease from a node that is gone. `isBlamed`: it died, perhaps of one of them. */
export function handBack<A>(turn: Turn<A>, node: AttachedNode, isBlamed: boolean): void {
  for (const entry of node.leases) {
    const { job, shard, attempts: attempt } = entry;
    const lease = { jobId: job.jobId, shard: shard.shard, attempt, epoch: turn.state.epoch };
    const error = 'The node went away';
    turn.commands.push({ kind: 'RecordSetback', nodeId: node.nodeId, lease, setback: 'lost', error });
    release(entry);
    if (isBlamed) entry.lostOn.push(node.nodeId);
    if (isBlamed && isKiller(turn.state, entry)) {
      const times = entry.lostOn.length;
      giveUp(turn, entry, `Its node was lost ${times} times while it held the shard, the last was ${node.nodeId}`);
    } else {
      requeue(turn, entry, 'lost');
    }
  }
}

function isKiller({ nodesById }: SchedulerState, { lostOn }: ShardEntry): boolean {
  const dead = new Set(lostOn.filter((nodeId) => !nodesById.has(nodeId)));
  return dead.size >= maxDeadNodes || lostOn.length >= maxLosses;
}

function requeue<A>({ now }: Turn<A>, entry: ShardEntry, reason: AttemptReason): void {
  entry.job.settling--;
  entry.state = { kind: 'queued', sinceMs: now, reason };
  entry.job.retries.push(entry);
}

function giveUp<A>({ commands }: Turn<A>, entry: ShardEntry, error: string): void {
  const { job, shard, attempts } = entry;
  commands.push({ kind: 'QuarantineShard', jobId: job.jobId, shard, attempts, error });
}
