import type { Log } from '@halogrid/service';
import type { JobDriver } from './job-driver.ts';

export interface DrainOptions {
  jobs: Pick<JobDriver, 'openJobs' | 'idle'>;
  /** Whether no other coordinator can take over the jobs. */
  isAlone: () => boolean;
  log: Log;
}

/** Resolves when the coordinator may end: no job runs, or another coordinator goes on with its jobs at once. */
export async function drain({ jobs, isAlone, log }: DrainOptions): Promise<void> {
  const { openJobs } = jobs;
  const facts = { jobs: openJobs };
  if (openJobs === 0) return;
  if (!isAlone()) return log.info(facts, 'The coordinator takes no new jobs: others take over those that it leads');
  log.info(facts, 'The coordinator takes no new jobs, and ends after those that it leads; another signal ends it now');
  await jobs.idle();
}
