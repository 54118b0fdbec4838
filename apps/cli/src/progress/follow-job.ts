import { hasEnded, type JobStatus } from '@halogrid/proto';
import type { CoordinatorClient } from '../client/coordinator-client.ts';
import type { ProgressView } from './progress-view.ts';

/** Shows a job until it ends and resolves with it as it is then. Rejects with one sentence where it is lost sight of. */
export async function followJob(client: CoordinatorClient, jobId: string, view: ProgressView): Promise<JobStatus> {
  let last: JobStatus | undefined;
  try {
    for await (const job of client.watch(jobId)) {
      last = job;
      if (!hasEnded(job)) view.show(job);
    }
  } finally {
    view.end();
  }
  if (last && hasEnded(last)) return last;
  throw new Error(`The coordinator at ${client.address} stopped reporting on job ${jobId} before its end`);
}
