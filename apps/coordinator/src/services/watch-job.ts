import { hasEnded, type JobStatus } from '@halogrid/proto';
import type { Pause } from '@halogrid/service/system-pause';
import type { JobDriver } from '../dispatch/job-driver.ts';

/** The pause between two messages to a watcher; the last one is sent at once. The protocol allows ten a second. */
const watchIntervalMs = 100;

export interface JobToWatch {
  jobId: string;
  jobs: Pick<JobDriver, 'changed' | 'ended'>;
  /** The job as it is now. */
  status: () => Promise<JobStatus>;
  pause: Pause;
}

/**
 * Sends the job now, again whenever it has changed, and a last time when it has ended; resolves then, or when the
 * watcher is gone. Each message has the job's state at the time of sending, and the next one waits until it is on its
 * way: a slow reader misses states, and nothing piles up for it.
 */
export async function watchJob(
  { jobId, jobs, status, pause }: JobToWatch,
  send: (job: JobStatus) => Promise<void>,
  gone: AbortSignal,
): Promise<void> {
  let hurry = (): void => {};
  let wake = (): void => {};
  void jobs.ended(jobId).then(() => hurry());
  gone.addEventListener('abort', () => {
    hurry();
    wake();
  });
  const unlessGone = (awaited: Promise<unknown>): Promise<void> =>
    new Promise((resolve, reject) => {
      wake = resolve;
      if (gone.aborted) resolve();
      else awaited.then(() => resolve(), reject);
    });
  while (!gone.aborted) {
    const hurried = new AbortController();
    hurry = () => hurried.abort();
    const changed = jobs.changed(jobId);
    const job = await status();
    await unlessGone(send(job));
    if (hasEnded(job) || gone.aborted) return;
    await pause(watchIntervalMs, hurried.signal);
    await unlessGone(changed);
  }
}
