import { queuedShards, type ScheduledJob, type SchedulerState } from './scheduler-state.ts';

/**
 * Shards of a job that may be settling while others are leased: a ledger or a disk that cannot keep up with the nodes holds
 * them up, so that answers never pile up beyond these and the leases. Enough for a ledger that commits several at once.
 */
export const maxSettling = 16;

/**
 * The jobs that have something to lease, in the order they are served: a higher priority first; of the same priority the
 * one that holds the fewest bytes, and of those with as many the one whose turn is longest ago.
 */
export function jobsInOrder({ jobs }: SchedulerState): ScheduledJob[] {
  const ready: ScheduledJob[] = [];
  for (const job of jobs.values()) if (queuedShards(job) > 0 && job.settling < maxSettling) ready.push(job);
  return ready.length > 1 ? ready.sort(compareJobs) : ready;
}

function compareJobs(a: ScheduledJob, b: ScheduledJob): number {
  return b.priority - a.priority || a.leasedBytes - b.leasedBytes || a.lastTurn - b.lastTurn;
}
