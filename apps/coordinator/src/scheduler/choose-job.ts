import { queuedShards, type ScheduledJob, type SchedulerState } from './scheduler-state.ts';

/**
 * Answers of a job that may wait to be written while more of its shards are leased: a ledger or a disk that cannot keep
 * up with the nodes holds them up, so that memory holds these and the answers to the leases. Enough for a ledger that
 * writes thousands of small ones at once. Measured: of answers of 256 bins, 1000 nodes have 600 at a time in one write,
 * and 16 at most, as it once was, took 1.5 times the processor time.
 */
export const maxUnwrittenBytes = 64 * 2 ** 20;

/**
 * The jobs that have something to lease, in the order they are served: a higher priority first; of the same priority
 * the one that holds the fewest bytes, and of those with as many the one whose turn is longest ago.
 */
export function jobsInOrder({ jobs }: SchedulerState): ScheduledJob[] {
  const ready: ScheduledJob[] = [];
  for (const job of jobs.values()) if (queuedShards(job) > 0 && !isHeldUp(job)) ready.push(job);
  return ready.length > 1 ? ready.sort(compareJobs) : ready;
}

/** Whether the ledger has to catch up first. */
export const isHeldUp = ({ unwrittenBytes }: ScheduledJob): boolean => unwrittenBytes >= maxUnwrittenBytes;

function compareJobs(a: ScheduledJob, b: ScheduledJob): number {
  return b.priority - a.priority || a.leasedBytes - b.leasedBytes || a.lastTurn - b.lastTurn;
}
