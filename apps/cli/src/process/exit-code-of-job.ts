import { JobState, type JobStatus } from '@halogrid/proto';
import { exitCodes } from './exit-code.ts';

/** The exit code of a command that followed a job to its end. */
export function exitCodeOfJob(job: Pick<JobStatus, 'state' | 'counts'>): number {
  if (job.state !== JobState.COMPLETE) return exitCodes.failed;
  return job.counts?.quarantined ? exitCodes.quarantined : exitCodes.complete;
}
