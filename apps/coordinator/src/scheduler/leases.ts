import { firstOf } from '@halogrid/jobs/planned-sources';
import { mostWaiting } from '@halogrid/results/part-bounds';
import { countActive, isActive, shareOf } from './active-nodes.ts';
import { jobsInOrder } from './choose-job.ts';
import { chooseShard } from './choose-shard.ts';
import type { AttemptReason } from './commands.ts';
import type { Failure, LeaseId } from './events.ts';
import { isKiller, isPoison, isSuspect, maxFailures } from './is-poison.ts';
import { leaseLimit } from './lease-limit.ts';
import type { AttachedNode, Attempt, SchedulerState, ShardEntry, Turn } from './scheduler-state.ts';
import { canDo, someNodeCouldHave } from './sights.ts';

/**
 * Leases queued shards to every node that may have room, nodes with the fewest leases first. The next tick finds nodes
 * whose limit has grown since.
 */
export function leaseToAll<A>(turn: Turn<A>): void {
  const { state, now } = turn;
  if (state.waiting.size === 0 || jobsInOrder(state).length === 0) return;
  let waiting = [...state.waiting].filter((node) => isActive(node, now) && hasRoom(state, node));
  state.waiting.clear();
  const left: AttachedNode[] = [];
  for (let held = 0; waiting.length > 0; held++) {
    waiting = waiting.filter((node) => {
      if (node.computing > held) return true;
      if (!hasRoom(state, node)) return false;
      if (leaseOne(turn, node)) return true;
      left.push(node);
      return false;
    });
  }
  for (const node of left) state.waiting.add(node);
}

/** Leases queued shards to this node, as many as it may hold. */
export function leaseTo<A>(turn: Turn<A>, node: AttachedNode): void {
  const { state, now } = turn;
  const isGone = !state.nodes.has(node.session);
  if (isGone || !isActive(node, now)) return;
  while (hasRoom(state, node)) {
    if (leaseOne(turn, node)) continue;
    state.waiting.add(node);
    return;
  }
  state.waiting.delete(node);
}

function hasRoom(state: SchedulerState, node: AttachedNode): boolean {
  const [first] = node.leases;
  if (first && isSuspect(first.entry)) return false;
  const isRateKnown = node.rate.bytesPerMs !== undefined;
  const { isOnProbation, decoders } = node;
  const inParts = node.leases.size - node.computing;
  if (isOnProbation ? inParts > 0 : inParts > mostWaiting.shards) return false;
  const share = shareOf(state, node);
  const taker = { isRateKnown, isOnProbation, isAlone: share === 1, decoders };
  return node.computing < leaseLimit(Math.max(0, state.openShards - state.inParts) * share, taker);
}

function leaseOne<A>(turn: Turn<A>, node: AttachedNode): boolean {
  for (;;) {
    const entry = chooseShard(turn.state, node, turn.now);
    if (entry?.state.kind !== 'queued') return false;
    const { reason, sinceMs } = entry.state;
    unqueue(entry);
    if (isRefused(entry)) {
      skip(turn, entry);
      continue;
    }
    lease(turn, entry, node, reason, turn.now - sinceMs);
    return true;
  }
}

/** Whether the shard is a tile of an image that is quarantined because of another tile. */
function isRefused({ job, shard: { work } }: ShardEntry): boolean {
  return work.kind === 'tile' && job.refused.has(firstOf(work.sources));
}

function skip<A>({ commands }: Turn<A>, entry: ShardEntry): void {
  const { job, shard } = entry;
  entry.state = { kind: 'settling', nodeId: '', answerBytes: 0 };
  commands.push({ kind: 'SkipShard', jobId: job.jobId, shard: shard.shard });
}

/** Takes a shard that waits for a node out of its queue. */
export function unqueue(entry: ShardEntry): void {
  if (entry.state.kind !== 'queued') return;
  const { fresh, retries } = entry.job;
  (entry.state.reason === 'first' ? fresh : retries).remove(entry);
}

/** Gives the shard, which is in no queue, to the node. */
export function lease<A>(
  turn: Turn<A>,
  entry: ShardEntry,
  node: AttachedNode,
  reason: AttemptReason,
  waitedMs: number,
): void {
  const { state, now, commands } = turn;
  const verify = isToBeVerified(entry);
  const held: Attempt = {
    entry,
    node,
    number: ++entry.attempts,
    sinceMs: now,
    verify,
    isAdopted: false,
    inPartSinceMs: undefined,
  };
  hold(turn, held);
  // Every order carries the deadline of the node's next report.
  node.deadlineMs = now + state.reportWithinMs;
  const { session } = node;
  const { shard } = entry;
  commands.push({ kind: 'AssignShard', session, lease: leaseId(held), shard, reason, verify, waitedMs });
}

/**
 * Whether the next lease is for the reference. If only the reference has answered, it is for a device, which also
 * writes the chunks of maps.
 */
export function isToBeVerified({ candidates }: ShardEntry): boolean {
  return candidates.some((candidate) => !candidate.verify);
}

/** Records the lease. */
export function hold({ state }: Turn<unknown>, held: Attempt): void {
  const { entry, node } = held;
  entry.state = { kind: 'leased' };
  entry.held = [...entry.held, held];
  entry.place.isTaken = true;
  node.place = entry.place;
  node.leases.add(held);
  if (held.inPartSinceMs === undefined) countCredit(held, 1);
  else state.inParts++;
  entry.job.lastTurn = ++state.turns;
  entry.job.share.lastTurn = state.turns;
}

/** The shard is computed, and its results wait in a part: the lease counts no more against its node's credit. */
export function putInPart({ state, now }: Turn<unknown>, held: Attempt): void {
  if (held.inPartSinceMs !== undefined) return;
  held.inPartSinceMs = now;
  state.inParts++;
  countCredit(held, -1);
}

/** Counts a lease against its node's credit, or no more. */
function countCredit({ node, entry: { job, shard } }: Attempt, by: 1 | -1): void {
  node.computing += by;
  node.leasedBytes += by * shard.costBytes;
  job.leasedBytes += by * shard.costBytes;
  job.share.leasedBytes += by * shard.costBytes;
}

export function leaseId({ entry: { job, shard }, number }: Attempt): LeaseId {
  return { jobId: job.jobId, shard: shard.shard, attempt: number, epoch: job.epoch };
}

/** The lease that the node holds under this id, or why it holds none. */
export function findLease(state: SchedulerState, node: AttachedNode, lease: LeaseId): Attempt | 'duplicate' | 'stale' {
  const job = state.jobs.get(lease.jobId);
  const entry = job?.open.get(lease.shard);
  if (lease.epoch === job?.epoch) {
    const held = entry?.held.find((other) => other.node === node && other.number === lease.attempt);
    if (held) return held;
  }
  const isDone = job && !entry && lease.shard < job.planned;
  return isDone || entry?.state.kind === 'settling' ? 'duplicate' : 'stale';
}

/** Takes the lease from the node that holds it. A shard that nobody holds any more is settling. */
export function release(state: SchedulerState, held: Attempt): void {
  const { node, entry } = held;
  if (held.inPartSinceMs === undefined) countCredit(held, -1);
  else state.inParts--;
  node.leases.delete(held);
  state.waiting.add(node);
  entry.held = entry.held.filter((other) => other !== held);
  if (entry.held.length > 0) return;
  entry.state = { kind: 'settling', nodeId: node.nodeId, answerBytes: 0 };
}

/** Leases a shard again after a failure on a node, which does not hold it any more, or gives it up. */
export function retryFailed<A>(
  turn: Turn<A>,
  entry: ShardEntry,
  nodeId: string,
  lease: LeaseId,
  failure: Failure,
): void {
  const { state, now, commands } = turn;
  const { error, isDevice } = failure;
  if (isDevice && !entry.hasLostDevice) entry.hasLostDevice = true;
  else entry.failedOn = [...entry.failedOn, nodeId];
  if (entry.state.kind === 'settling' && isPoison(state, entry, now)) {
    giveUp(turn, entry, error);
  } else {
    commands.push({ kind: 'RecordSetback', nodeId, lease, setback: 'failed', error });
    // A node that has computed nothing yet may itself be at fault: if no other node could do the shard, the scheduler
    // waits for one.
    const isUnproven = state.nodesById.get(nodeId)?.health.isProven === false;
    const isAlone = !someNodeCouldHave(state, entry, now, (other) => other.nodeId !== nodeId);
    // Every node that could have it now has failed it, and only a node that lacks something for now might compute it:
    // until then, the others try it now and then.
    const isLeft = entry.failedOn.length >= maxFailures && !isAble(state, entry, now);
    requeue(turn, entry, 'failed', isLeft || (isUnproven && isAlone) ? now + state.reportWithinMs : now);
  }
}

/** Whether a node that has not failed the shard can compute it now. */
function isAble({ nodes }: SchedulerState, { shard, failedOn }: ShardEntry, now: number): boolean {
  for (const node of nodes.values())
    if (isActive(node, now) && canDo(node, shard.needs) && !failedOn.includes(node.nodeId)) return true;
  return false;
}

/**
 * Takes every lease from a node that is gone. `hasDied`: it died, perhaps because of one of the shards that it was
 * computing.
 */
export function handBack<A>(turn: Turn<A>, node: AttachedNode, hasDied: boolean): void {
  const { nodeId, name } = node;
  for (const held of node.leases) {
    const { entry } = held;
    const isBlamed = hasDied && held.inPartSinceMs === undefined;
    const error = 'The node went away';
    turn.commands.push({ kind: 'RecordSetback', nodeId, lease: leaseId(held), setback: 'lost', error });
    release(turn.state, held);
    if (isBlamed) entry.lostOn = [...entry.lostOn, { nodeId, name }];
    if (isBlamed && entry.state.kind === 'settling' && isKiller(turn.state, entry, turn.now)) {
      const times = entry.lostOn.length;
      giveUp(turn, entry, `Its node was lost ${times} times while it held the shard, the last was ${nodeId}`);
    } else {
      requeue(turn, entry, 'lost');
    }
  }
}

/** Puts a shard that nobody holds back into the queue. */
export function requeue<A>({ state, now }: Turn<A>, entry: ShardEntry, reason: AttemptReason, notBeforeMs = now): void {
  if (entry.state.kind !== 'settling') return;
  entry.job.unwrittenBytes -= entry.state.answerBytes;
  // By then, nodes that only lost their connection are back; the others were perhaps killed by the shard.
  const backMs = reason === 'lost' && isSuspect(entry) ? now + state.reportWithinMs : now;
  entry.state = { kind: 'queued', sinceMs: now, notBeforeMs: Math.max(notBeforeMs, backMs), reason };
  entry.job.retries.push(entry);
}

export function giveUp<A>({ commands }: Turn<A>, entry: ShardEntry, error: string): void {
  const { job, shard, attempts, committed } = entry;
  const { jobId } = job;
  if (committed) commands.push({ kind: 'FailJob', jobId, error });
  else commands.push({ kind: 'QuarantineShard', jobId, shard, attempts, error });
}

/** Updates which nodes get shards, and leases them some. */
export function shareAnew<A>(turn: Turn<A>): void {
  const { state, now } = turn;
  countActive(state, now);
  for (const node of state.nodes.values()) state.waiting.add(node);
  leaseToAll(turn);
}
