import { isKept, type Shard } from '@halogrid/jobs/shard';
import { reopen } from './candidates.ts';
import { isHeldUp } from './choose-job.ts';
import type { JobOrder, SchedulerEvent } from './events.ts';
import { finaliseWhenDone, finishShard, forgetJob } from './finish-shard.ts';
import { countNeeds } from './job-needs.ts';
import { leaseToAll, release, shareAnew } from './leases.ts';
import {
  type AttachedNode,
  createEntry,
  createJob,
  type InputPlace,
  type ScheduledJob,
  type ShardEntry,
  type Turn,
} from './scheduler-state.ts';
import { setAsideBad } from './set-aside-bad.ts';
import { otherThanAnswered, setAsideWrong } from './set-aside-wrong.ts';
import { needsPlanned } from './sights.ts';

/** The epoch of a first coordinator: no node holds a lease of an earlier one. */
const firstEpoch = 1;

export function jobSubmitted({ state }: Turn<unknown>, order: JobOrder): void {
  state.jobs.set(order.jobId, createJob(state, order));
}

/**
 * Shards that were leased before go first, like shards of lost nodes. If another coordinator gave the leases, the
 * scheduler first waits for its nodes to bring them along.
 */
export function jobResumed<A>(turn: Turn<A>, event: Extract<SchedulerEvent<A>, { kind: 'JobResumed' }>): void {
  jobSubmitted(turn, event);
  const { state, now } = turn;
  const job = state.jobs.get(event.jobId)!;
  const notBeforeMs = job.epoch > firstEpoch ? now + (event.bringMs ?? state.reportWithinMs) : now;
  const queued = openShards(
    turn,
    job,
    event.open.map(({ shard }) => shard),
  );
  const reopened = new Map(event.open.map((open) => [open.shard.shard, open]));
  for (const entry of queued) {
    const { attempts: before, withdrawn } = reopened.get(entry.shard.shard)!;
    if (withdrawn !== undefined) entry.answered = upTo(withdrawn);
    if (before > 0) {
      entry.attempts = before;
      entry.state = { kind: 'queued', sinceMs: now, notBeforeMs, reason: 'lost' };
    }
    (before > 0 ? job.retries : job.fresh).push(entry);
  }
  Object.assign(job, { planned: event.planned, kept: event.kept });
  leaseToAll(turn);
}

/** Attempts that a withdrawn answer ends: it is not known which one of them had it. */
const upTo = (attempt: number): number[] => Array.from({ length: attempt }, (_, i) => i + 1);

export function shardsPlanned<A>(turn: Turn<A>, jobId: string, shards: Shard[]): void {
  const job = turn.state.jobs.get(jobId);
  if (!job) return;
  const own = shards.filter(({ elsewhere }) => !elsewhere);
  for (const entry of openShards(turn, job, own)) job.fresh.push(entry);
  job.planned += shards.length;
  job.kept += shards.length - own.filter((shard) => !isKept(shard)).length;
  leaseToAll(turn);
}

/**
 * Makes entries for shards that are new, and asks nodes whether they meet the needs of these. Kept shards have no
 * needs: the coordinator does them itself.
 */
function openShards<A>(turn: Turn<A>, job: ScheduledJob, shards: readonly Shard[]): ShardEntry[] {
  for (const shard of shards.filter(isKept)) {
    job.keeping.add(shard.shard);
    turn.commands.push({ kind: 'KeepShard', jobId: job.jobId, shard });
  }
  const others = shards.filter((shard) => !isKept(shard));
  needsPlanned(turn, job, new Set(others.flatMap(({ needs = [] }) => needs)));
  if (!job.isPaused) turn.state.openShards += others.length;
  return others.map((shard) => {
    countNeeds(job, shard);
    const entry = createEntry(job, shard, placeOf(job, shard), turn.now);
    job.open.set(shard.shard, entry);
    return entry;
  });
}

/** The image that a tile is cut from, or the folder of the first frame. */
function uriOf({ work }: Shard): string {
  const { uri } = work.sources;
  return work.kind === 'tile' ? uri : uri.slice(0, uri.lastIndexOf('/') + 1);
}

/**
 * The place of the plan's next shard: the same object as for the shard before, if both read the same file or folder.
 */
function placeOf(job: ScheduledJob, shard: Shard): InputPlace {
  const uri = uriOf(shard);
  if (job.lastPlace?.uri !== uri) job.lastPlace = { uri, isTaken: false };
  return job.lastPlace;
}

export function planEnded<A>(turn: Turn<A>, jobId: string): void {
  const job = turn.state.jobs.get(jobId);
  if (!job) return;
  job.planEnded = true;
  finaliseWhenDone(turn, job);
}

export function commitFinished<A>(turn: Turn<A>, jobId: string, shard: number): void {
  const job = turn.state.jobs.get(jobId);
  if (job?.keeping.delete(shard)) {
    finaliseWhenDone(turn, job);
    return;
  }
  const entry = job?.open.get(shard);
  if (!job || entry?.state.kind !== 'settling') return;
  const wasHeldUp = isHeldUp(job);
  if (entry.committed && entry.candidates.length > 1) {
    reopen(turn, entry);
    leaseToAll(turn);
    return;
  }
  finishShard(turn, entry);
  if (wasHeldUp) leaseToAll(turn);
}

/** Opens a done shard again, and its job if that had no open shards. */
export function shardLost<A>(turn: Turn<A>, event: Extract<SchedulerEvent<A>, { kind: 'ShardLost' }>): void {
  const { state, now } = turn;
  const { jobId, open, planned, kept, nodeIds, isFalse, inVain, error } = event;
  if (!state.jobs.has(jobId)) {
    jobSubmitted(turn, event);
    Object.assign(state.jobs.get(jobId)!, { planned, kept, planEnded: true });
  }
  const job = state.jobs.get(jobId)!;
  job.contestable.delete(open.shard.shard);
  const [entry] = openShards(turn, job, [open.shard]);
  if (!entry) return;
  entry.attempts = open.attempts;
  if (open.withdrawn !== undefined) entry.answered = upTo(open.withdrawn);
  entry.refusedOn = inVain;
  entry.state = { kind: 'queued', sinceMs: now, notBeforeMs: now, reason: 'lost' };
  job.retries.push(entry);
  const [writer, ...others] = nodeIds;
  if (isFalse && writer !== undefined && others.length === 0) {
    const lease = { jobId, shard: open.shard.shard, attempt: open.attempts, epoch: job.epoch };
    setAsideWrong(turn, writer, lease, otherThanAnswered);
  } else {
    for (const nodeId of nodeIds) {
      state.nodesById.get(nodeId)?.health.add(true, entry);
      setAsideBad(turn, nodeId, error);
    }
  }
  leaseToAll(turn);
}

/**
 * Holds the job, or goes on with it. While it is paused, nobody waits for what its shards need, so that it fails for
 * nothing that nodes lack.
 */
export function jobPaused<A>(turn: Turn<A>, jobId: string, isPaused: boolean): void {
  const { state } = turn;
  const job = state.jobs.get(jobId);
  if (!job || job.isPaused === isPaused) return;
  job.isPaused = isPaused;
  job.lackedSinceMs.clear();
  state.openShards += isPaused ? -job.open.size : job.open.size;
  if (!isPaused) shareAnew(turn);
}

/** Forgets the job and recalls its leases. */
export function jobAbandoned<A>(turn: Turn<A>, jobId: string): void {
  const job = turn.state.jobs.get(jobId);
  if (!job) return;
  forgetJob(turn.state, job);
  const holders = new Set<AttachedNode>();
  for (const entry of job.open.values()) {
    for (const held of entry.held) {
      holders.add(held.node);
      release(turn.state, held);
    }
  }
  for (const node of holders) {
    node.deadlineMs = turn.now + turn.state.reportWithinMs;
    turn.commands.push({ kind: 'RecallShards', session: node.session, jobId, shards: [] });
  }
  leaseToAll(turn);
}
