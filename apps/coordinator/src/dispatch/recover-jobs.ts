import { jobPipeline } from '@halogrid/jobs/accepted-job';
import { lackOf } from '@halogrid/jobs/output-lack';
import { placesOf } from '@halogrid/jobs/output-paths';
import { isLedgerLost, type JobRecord, type Ledger, type LedgerState } from '@halogrid/ledger';
import type { Counts } from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import type { Clock } from '@halogrid/service/clock';
import { isBucketUri } from '@halogrid/sources';
import { abandonJob } from '../output/finalise.ts';
import { isUnfinished } from '../output/job-claim.ts';
import { releaseOutputFolder, resumeOutputFolder } from '../output/output-folder.ts';
import { removeScratch } from '../output/scratch-folder.ts';
import type { JobDriver } from './job-driver.ts';

export interface Recovery {
  ledger: Ledger;
  jobs: JobDriver;
  clock: Clock;
  log: Log;
  /** Whether other coordinators lead jobs of the same registry. */
  isShared?: boolean;
}

/** Goes on with every job of the ledger that has not ended. */
export async function recoverJobs(recovery: Recovery): Promise<void> {
  const jobs = await recovery.ledger.listJobs();
  for (const job of jobs.reverse()) if (job.finishedMs === 0) await recoverJob(recovery, job);
}

/**
 * Resumes a job that an earlier process began. If its job.json already has its end, only the ledger is updated: that
 * process died between the two. A job that cannot go on fails, with a sentence. A job that is kept in a bucket waits
 * for the bucket if need be, while others go on. `bringMs` as in JobDriver.resume.
 */
export async function recoverJob(recovery: Recovery, job: JobRecord, bringMs?: number): Promise<void> {
  const { ledger, jobs, clock, log, isShared = false } = recovery;
  const { jobId, spec, owner } = job;
  const accepted = { jobId, spec, pipeline: jobPipeline(spec), ...placesOf(job, isShared), owner };
  if (accepted.objects) return jobs.resume(accepted, bringMs, () => isTakenUp(recovery, job));
  if (!(await isTakenUp(recovery, job))) return;
  try {
    await jobs.resume(accepted, bringMs);
  } catch (caught) {
    if (isLedgerLost(caught)) throw caught;
    const error = sayFailed(log, jobId, caught);
    await abandonJob(job, { state: 'failed', error }, clock.wallMs());
    releaseOutputFolder(spec.out);
    await ledger.setState(jobId, 'failed', { nowMs: clock.wallMs(), error });
    jobs.endedBefore(jobId, 'failed');
  }
}

/**
 * Takes over the folder of a job. Resolves with false if the job has ended, or fails because it cannot go on. Rejects
 * if the ledger is lost, or the bucket of the output is away.
 */
async function isTakenUp({ ledger, jobs, clock, log, isShared }: Recovery, job: JobRecord): Promise<boolean> {
  const { jobId, spec } = job;
  const end = async (
    state: LedgerState,
    more: { error?: string; digest?: string; counts?: Counts },
  ): Promise<false> => {
    await ledger.setState(jobId, state, { ...more, nowMs: clock.wallMs() });
    jobs.endedBefore(jobId, state);
    return false;
  };
  try {
    const claim = await resumeOutputFolder(spec.out, job, isShared);
    // Neither plans nor shares are in a ledger.
    const { state, digest, error, counts: found } = claim;
    if (isUnfinished(claim) || state === 'planned' || state === 'part') return true;
    await removeScratch(spec.out);
    // A ledger that was restored from a backup knows only the beginning of the job.
    const shardsDone = state === 'complete' ? found?.shards : undefined;
    const counts = { ...job.counts, ...found, ...(shardsDone !== undefined && { shardsDone }) };
    return await end(state, { digest, error, counts });
  } catch (caught) {
    if (isLedgerLost(caught) || (isShared && isBucketUri(spec.out) && lackOf(caught))) throw caught;
    return await end('failed', { error: sayFailed(log, jobId, caught) });
  }
}

function sayFailed(log: Log, jobId: string, caught: unknown): string {
  const error = caught instanceof Error ? caught.message : String(caught);
  log.error({ jobId }, `A job cannot go on: ${error}`);
  return error;
}
