import { type OwnerShare, queuedShards, type ScheduledJob, type SchedulerState } from './scheduler-state.ts';

/**
 * The most bytes of a job's answers that may wait to be written while more of its shards are leased. A ledger or a disk
 * that is slower than the nodes thus slows them down, and memory stays bounded. Enough for a ledger that writes
 * thousands of small answers at once: with 1000 nodes and answers of 256 bins, one write had 600 answers, and a limit
 * of 16 answers took 1.5 times the processor time (measured).
 */
export const maxUnwrittenBytes = 64 * 2 ** 20;

/** How far a priority of 100 raises the share of its owner: this often, and -100 divides it by as much. */
const mostOfPriority = 2;

/**
 * The jobs that have something to lease, in the order in which they are served. First the jobs of the owner whose
 * leases hold the fewest bytes for its weight, so that many jobs of one owner have one share together. The highest
 * priority among the owner's jobs makes its weight from 1/2 to 2, so that no priority keeps another owner waiting for
 * ever. Among one owner's jobs, the higher priority goes first, then the job with fewer bytes leased. Owners and jobs
 * that are equal take turns.
 */
export function jobsInOrder(state: SchedulerState): ScheduledJob[] {
  const ready: ScheduledJob[] = [];
  for (const job of state.jobs.values()) if (queuedShards(job) > 0 && mayLease(state, job)) ready.push(job);
  if (ready.length < 2) return ready;
  const weights = new Map<OwnerShare, number>();
  for (const { share, priority } of ready) {
    weights.set(share, Math.max(weights.get(share) ?? 0, mostOfPriority ** (priority / 100)));
  }
  const held = ({ share }: ScheduledJob): number => share.leasedBytes / weights.get(share)!;
  return ready.sort((a, b) =>
    a.share === b.share ? compareJobs(a, b) : held(a) - held(b) || compareTurns(a.share, b.share),
  );
}

/** Whether the job's shards wait until the ledger has caught up. */
export const isHeldUp = ({ unwrittenBytes }: ScheduledJob): boolean => unwrittenBytes >= maxUnwrittenBytes;

function mayLease({ credits }: SchedulerState, job: ScheduledJob): boolean {
  const { owner, leasedBytes } = job.share;
  return !job.isPaused && !isHeldUp(job) && leasedBytes < (credits.named.get(owner) ?? credits.others);
}

/** Never 0 for two owners: the jobs of one stay together. */
const compareTurns = (a: OwnerShare, b: OwnerShare): number => a.lastTurn - b.lastTurn || (a.owner < b.owner ? -1 : 1);

function compareJobs(a: ScheduledJob, b: ScheduledJob): number {
  return b.priority - a.priority || a.leasedBytes - b.leasedBytes || a.lastTurn - b.lastTurn;
}
