import { hostname } from 'node:os';
import { hasEnded, JobState, type JobStatus } from '@halogrid/proto';
import { isProcessAlive } from '@halogrid/results/is-process-alive';
import type { StoredOutput } from '@halogrid/results/stored-output';
import type { JobKnowledge } from './judge-output.ts';

/** What this machine, and the coordinator if its jobs are given, knows of an output's job. */
export async function knowJob(
  { jobId, coordinator }: StoredOutput,
  jobs?: ReadonlyMap<string, JobStatus>,
): Promise<JobKnowledge> {
  return {
    isAlive: await isProcessAlive(coordinator),
    isOfThisHost: coordinator === undefined || coordinator.host === hostname(),
    ...(jobs && { atCoordinator: standing(jobs.get(jobId)) }),
  };
}

function standing(job: JobStatus | undefined): 'running' | 'can go on' | 'unknown' {
  if (!job) return 'unknown';
  if (!hasEnded(job)) return 'running';
  return job.state === JobState.FAILED ? 'can go on' : 'unknown';
}
