import { isActive } from './active-nodes.ts';
import type { Comparable, Failure, LeaseId, Opinion, SchedulerEvent, Verdict } from './events.ts';
import { findLease, leaseTo, leaseToAll, release, requeue, retryFailed, shareAnew } from './leases.ts';
import { isBadNode } from './node-health.ts';
import { contest, hear } from './opinions.ts';
import type { AttachedNode, HeldLease, ShardEntry, Turn } from './scheduler-state.ts';
import { confirmSights, lacksFor, loseSight } from './sights.ts';

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
    node.rate.add(held.entry.shard.costBytes * (answer.goodShare ?? 1), held.sinceMs, now);
    held.entry.job.durations.add(now - held.sinceMs);
  }
  const heard = { ...opinion, leasedAtMs: held.sinceMs, isCheck: held.isCheck };
  if (answer.isDoubtful) {
    // It is given no more for having been quick.
    node.isOnProbation = true;
    vet(turn, held.entry, heard);
  } else accept(turn, held.entry, heard);
  leaseTo(turn, node);
}

/** Has it found out whether the sources that the node could not have are at fault, or the node. */
function vet<A>({ commands }: Turn<A>, entry: ShardEntry, opinion: Opinion): void {
  entry.vetting = opinion.lease.attempt;
  commands.push({ kind: 'VetAnswer', shard: entry.shard, opinion });
}

/** Takes an answer for good. */
function accept<A>(turn: Turn<A>, entry: ShardEntry, opinion: Opinion): void {
  const node = turn.state.nodesById.get(opinion.nodeId);
  if (node) {
    node.health.add(false);
    if (opinion.answer.goodShare !== 0) node.isOnProbation = false;
    confirmSights(node, entry);
  }
  // What failed elsewhere is computed here.
  for (const nodeId of entry.failedOn) setAsideBad(turn, nodeId, 'Another node could compute it');
  hear(turn, entry, opinion);
}

/** What was found out about an answer. Where another answer came first, or nobody wants any, it is of no use. */
export function answerVetted<A>(turn: Turn<A>, { opinion, verdict }: { opinion: Opinion; verdict: Verdict }): void {
  const { lease, nodeId } = opinion;
  const entry = vettedEntry(turn, lease);
  if (!entry) return;
  const { state, now } = turn;
  if (verdict.kind === 'upheld') {
    accept(turn, entry, opinion);
    return;
  }
  if (verdict.kind === 'refuted') blameNode(turn, entry, nodeId, verdict.need, verdict.reason);
  if (verdict.kind === 'untold') {
    entry.refusedOn = [...entry.refusedOn, nodeId];
    if (!mayAnotherHave(turn, entry)) {
      accept(turn, entry, opinion);
      return;
    }
  }
  turn.commands.push({ kind: 'RecordSetback', nodeId, lease, setback: 'failed', error: verdict.reason });
  requeue(turn, entry, 'failed', verdict.kind === 'later' ? now + state.tickMs * laterTicks : now);
  leaseToAll(turn);
}

/** Before a shard is leased again whose sources may be had soon. */
const laterTicks = 10;

/** The entry whose lease was vetted, if nothing else became of it meanwhile. */
function vettedEntry<A>({ state }: Turn<A>, lease: LeaseId): ShardEntry | undefined {
  const entry = state.jobs.get(lease.jobId)?.open.get(lease.shard);
  if (entry?.vetting !== lease.attempt) return undefined;
  entry.vetting = undefined;
  return entry;
}

/** The node lacks what the shard needs; the shard is not blamed. */
function blameNode<A>(
  turn: Turn<A>,
  entry: ShardEntry,
  nodeId: string,
  need: string | undefined,
  reason: string,
): void {
  entry.refusedOn = [...entry.refusedOn, nodeId];
  const node = turn.state.nodesById.get(nodeId);
  if (!node) return;
  node.failures++;
  if (need !== undefined && entry.shard.needs?.includes(need)) loseSight(turn, node, need, reason);
  else {
    node.health.add(true, entry);
    setAsideBad(turn, nodeId, reason);
  }
}

/** Whether there is a node that could have the shard's sources, for all that is known. */
function mayAnotherHave<A>({ state, now }: Turn<A>, entry: ShardEntry): boolean {
  for (const node of state.nodes.values()) {
    if (isActive(node, now) && !entry.refusedOn.includes(node.nodeId) && !lacksFor(node, entry)) return true;
  }
  return false;
}

export function shardFailed<A>(turn: Turn<A>, event: { session: number; lease: LeaseId; failure: Failure }): void {
  const { session, lease, failure } = event;
  const current = currentLease(turn, session, lease);
  if (!current) return;
  const { node, entry } = current;
  const { need, isOutput, error } = failure;
  release(turn.state, current);
  node.failures++;
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

/** Where nobody can write, no shard's results can be: the job fails. */
export function outputVetted<A>(
  turn: Turn<A>,
  { session, lease, failure, need }: Extract<SchedulerEvent<A>, { kind: 'OutputVetted' }>,
): void {
  const entry = vettedEntry(turn, lease);
  if (!entry) return;
  const { state, commands } = turn;
  const nodeId = state.nodes.get(session)?.nodeId ?? '';
  commands.push({ kind: 'RecordSetback', nodeId, lease, setback: 'failed', error: failure.error });
  if (need === undefined) commands.push({ kind: 'FailJob', jobId: lease.jobId, error: failure.error });
  else blameNode(turn, entry, nodeId, need, failure.error);
  requeue(turn, entry, 'failed');
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

/** Where all nodes fail everything, each is set aside so often, and others are waited for, before the jobs fail. */
const maxAsideAlone = 2;

/** Sets the node aside for a while where it is a bad one: its failures then blame no shard. `error` is the last of them. */
function setAsideBad<A>(turn: Turn<A>, nodeId: string, error: string): void {
  const { state, now, commands } = turn;
  const node = state.nodesById.get(nodeId);
  if (!node?.health.isSuspect) return;
  const { health } = node;
  const others = [...state.nodes.values()].filter((other) => other !== node).map((other) => other.health);
  // Then there is nobody to compare it with: it may be the shards.
  const isHopeless = others.every(({ failsEverything }) => failsEverything);
  if (isHopeless ? !health.failsEverything : !isBadNode(health, others)) return;
  const { failures, answers: of } = health;
  if (isHopeless && health.timesAside >= maxAsideAlone) failJobs(turn, nodeId, error);
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

/** Fails the jobs of which the node, for lack of a better one, has failed shards again and again. */
function failJobs<A>({ state, commands }: Turn<A>, nodeId: string, last: string): void {
  const { size } = state.nodes;
  const who = size === 1 ? `Node ${nodeId}, the only one there is,` : `Each of the ${size} nodes that there are`;
  const error = `${who} failed every shard that it was given, and no other came: ${last}`;
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
