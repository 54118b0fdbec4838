import { JobState, type JobStatus } from './gen/halogrid/v1/job.ts';

/** Whether nothing about the job will change any more. */
export function hasEnded({ state }: Pick<JobStatus, 'state'>): boolean {
  return state === JobState.COMPLETE || state === JobState.FAILED || state === JobState.CANCELLED;
}
