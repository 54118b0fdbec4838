import type { Shard } from '../shard.ts';
import type { SchedulerEvent } from './events.ts';
import { leaseToAll, release } from './leases.ts';
import { maxSettling } from './placement.ts';
import { type AttachedNode, createJob, type ScheduledJob, type SchedulerState, type Turn } from './scheduler-state.ts';

export function jobSubmitted({ state }: Turn<unknown>, jobId: string): void {
  const job = createJob(jobId);
  state.jobs.set(jobId, job);
  state.rotation.push(job);
}

/** Shards that were leased go first, as those do whose node was lost. */
export function jobResumed<A>(turn: Turn<A>, event: Extract<SchedulerEvent<A>, { kind: 'JobResumed' }>): void {
  jobSubmitted(turn, event.jobId);
  const job = turn.state.jobs.get(event.jobId)!;
  for (const { shard, attempts } of event.open) {
    const entry = { job, shard, attempts, failedOn: [], lostOn: [] };
    const reason = attempts > 0 ? 'lost' : 'first';
    const queued = { ...entry, state: { kind: 'queued', sinceMs: turn.now, reason } } as const;
    job.open.set(shard.shard, queued);
    (attempts > 0 ? job.retries : job.fresh).push(queued);
  }
  job.planned = event.planned;
  leaseToAll(turn);
}

export function shardsPlanned<A>(turn: Turn<A>, jobId: string, shards: Shard[]): void {
  const job = turn.state.jobs.get(jobId);
  if (!job) return;
  for (const shard of shards) {
    const entry = { job, shard, attempts: 0, failedOn: [], lostOn: [] };
    const queued = { ...entry, state: { kind: 'queued', sinceMs: turn.now, reason: 'first' } } as const;
    job.open.set(shard.shard, queued);
    job.fresh.push(queued);
  }
  job.planned += shards.length;
  leaseToAll(turn);
}

export function planEnded<A>(turn: Turn<A>, jobId: string): void {
  const job = turn.state.jobs.get(jobId);
  if (!job) return;
  job.planEnded = true;
  finaliseWhenDone(turn, job);
}

export function commitFinished<A>(turn: Turn<A>, jobId: string, shard: number): void {
  const job = turn.state.jobs.get(jobId);
  if (!job?.open.delete(shard)) return;
  const wasHeldUp = job.settling >= maxSettling;
  job.settling--;
  if (wasHeldUp) leaseToAll(turn);
  finaliseWhenDone(turn, job);
}

/** Forgets the job and recalls its leases. */
export function jobAbandoned<A>(turn: Turn<A>, jobId: string): void {
  const job = turn.state.jobs.get(jobId);
  if (!job) return;
  forget(turn.state, job);
  const holders = new Set<AttachedNode>();
  for (const entry of job.open.values()) {
    if (entry.state.kind !== 'leased') continue;
    holders.add(entry.state.node);
    release(entry);
  }
  for (const node of holders) {
    node.deadlineMs = turn.now + turn.state.reportWithinMs;
    turn.commands.push({ kind: 'RecallShards', session: node.session, jobId });
  }
  leaseToAll(turn);
}

function finaliseWhenDone<A>(turn: Turn<A>, job: ScheduledJob): void {
  if (!job.planEnded || job.open.size > 0) return;
  forget(turn.state, job);
  turn.commands.push({ kind: 'FinaliseJob', jobId: job.jobId });
}

function forget(state: SchedulerState, job: ScheduledJob): void {
  state.jobs.delete(job.jobId);
  state.rotation = state.rotation.filter((other) => other !== job);
}
