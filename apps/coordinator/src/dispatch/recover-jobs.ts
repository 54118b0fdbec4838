import { jobPipeline } from '@halogrid/jobs/accepted-job';
import { scratchUri } from '@halogrid/jobs/output-paths';
import { isLedgerLost, type JobRecord, type Ledger } from '@halogrid/ledger';
import type { Log } from '@halogrid/service';
import type { Clock } from '@halogrid/service/clock';
import { abandonJob } from '../output/finalise.ts';
import { isUnfinished } from '../output/job-claim.ts';
import { releaseOutputFolder, removeScratch, resumeOutputFolder } from '../output/output-folder.ts';
import type { JobDriver } from './job-driver.ts';

export interface Recovery {
  ledger: Ledger;
  jobs: JobDriver;
  clock: Clock;
  log: Log;
}

/** Goes on with every job of the ledger that has not ended. */
export async function recoverJobs(recovery: Recovery): Promise<void> {
  const jobs = await recovery.ledger.listJobs();
  for (const job of jobs.reverse()) if (job.finishedMs === 0) await recoverJob(recovery, job);
}

/**
 * Resumes a job that an earlier process began. If its job.json already has its end, only the ledger is updated: that
 * process died between the two. A job that cannot go on fails, with a sentence. `bringMs` as in JobDriver.resume.
 */
export async function recoverJob(
  { ledger, jobs, clock, log }: Recovery,
  job: JobRecord,
  bringMs?: number,
): Promise<void> {
  const { jobId, spec, owner } = job;
  let isClaimed = false;
  try {
    const claim = await resumeOutputFolder(spec.out, job);
    // Neither plans nor shares are in a ledger.
    if (!isUnfinished(claim) && claim.state !== 'planned' && claim.state !== 'part') {
      await removeScratch(spec.out);
      const { state, digest, error, counts: found } = claim;
      // A ledger that was restored from a backup knows only the beginning of the job.
      const shardsDone = state === 'complete' ? found?.shards : undefined;
      const counts = { ...job.counts, ...found, ...(shardsDone !== undefined && { shardsDone }) };
      await ledger.setState(jobId, state, { digest, error, counts, nowMs: clock.wallMs() });
      return jobs.endedBefore(jobId, claim.state);
    }
    isClaimed = true;
    const pipeline = jobPipeline(spec);
    await jobs.resume({ jobId, spec, pipeline, scratch: scratchUri(spec.out), owner }, bringMs);
  } catch (caught) {
    if (isLedgerLost(caught)) throw caught;
    const error = caught instanceof Error ? caught.message : String(caught);
    log.error({ jobId }, `A job cannot go on: ${error}`);
    if (isClaimed) {
      await abandonJob(job, { state: 'failed', error }, clock.wallMs());
      releaseOutputFolder(spec.out);
    }
    await ledger.setState(jobId, 'failed', { nowMs: clock.wallMs(), error });
    jobs.endedBefore(jobId, 'failed');
  }
}
