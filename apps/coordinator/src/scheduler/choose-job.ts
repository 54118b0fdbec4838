import { queuedShards, type ScheduledJob, type SchedulerState } from './scheduler-state.ts';

/**
 * The most bytes of a job's answers that may wait to be written while more of its shards are leased. A ledger or a disk
 * that is slower than the nodes thus slows them down, and memory stays bounded. Enough for a ledger that writes
 * thousands of small answers at once: with 1000 nodes and answers of 256 bins, one write had 600 answers, and a limit
 * of 16 answers took 1.5 times the processor time (measured).
 */
export const maxUnwrittenBytes = 64 * 2 ** 20;

/**
 * The jobs that have something to lease, in the order in which they are served: the higher priority first, then the job
 * with fewer bytes leased, then the job that was served longest ago.
 */
export function jobsInOrder({ jobs }: SchedulerState): ScheduledJob[] {
  const ready: ScheduledJob[] = [];
  for (const job of jobs.values()) if (queuedShards(job) > 0 && !isHeldUp(job)) ready.push(job);
  return ready.length > 1 ? ready.sort(compareJobs) : ready;
}

/** Whether the job's shards wait until the ledger has caught up. */
export const isHeldUp = ({ unwrittenBytes }: ScheduledJob): boolean => unwrittenBytes >= maxUnwrittenBytes;

function compareJobs(a: ScheduledJob, b: ScheduledJob): number {
  return b.priority - a.priority || a.leasedBytes - b.leasedBytes || a.lastTurn - b.lastTurn;
}
