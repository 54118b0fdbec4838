import { forgetNeeds } from './job-needs.ts';
import type { ScheduledJob, SchedulerState, ShardEntry, Turn } from './scheduler-state.ts';

/** Removes a done shard from its job, and finalises the job after its last one. */
export function finishShard<A>(turn: Turn<A>, entry: ShardEntry): void {
  const { job, shard, state } = entry;
  job.open.delete(shard.shard);
  forgetNeeds(job, shard);
  if (state.kind === 'settling') {
    job.unwrittenBytes -= state.answerBytes;
    entry.state = { ...state, answerBytes: 0 };
  }
  if (!job.isPaused) turn.state.openShards--;
  finaliseWhenDone(turn, job);
}

export function finaliseWhenDone<A>(turn: Turn<A>, job: ScheduledJob): void {
  if (!job.planEnded || job.open.size + job.keeping.size > 0) return;
  forgetJob(turn.state, job);
  turn.commands.push({ kind: 'FinaliseJob', jobId: job.jobId });
}

export function forgetJob(state: SchedulerState, job: ScheduledJob): void {
  state.jobs.delete(job.jobId);
  if (!job.isPaused) state.openShards -= job.open.size;
  for (const { share } of state.jobs.values()) if (share === job.share) return;
  state.shares.delete(job.share.owner);
}
