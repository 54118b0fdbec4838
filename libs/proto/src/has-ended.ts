import { JobState, type JobStatus } from './gen/halogrid/v1/job.ts';

/** Whether the job is over, so that nothing about it changes any more. */
export function hasEnded({ state }: Pick<JobStatus, 'state'>): boolean {
  return state === JobState.COMPLETE || state === JobState.FAILED || state === JobState.CANCELLED;
}
