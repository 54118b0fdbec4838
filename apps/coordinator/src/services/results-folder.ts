import { open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { outputPath } from '@halogrid/jobs/output-paths';
import { Refusal } from '@halogrid/jobs/refusal';
import type { Ledger } from '@halogrid/ledger';
import { findJob } from './match-job-id.ts';

/**
 * The folder with the results of a job. Rejects with Refusal unless the job is complete and its results are still
 * there.
 */
export async function resultsFolder(ledger: Ledger, given: string): Promise<string> {
  const job = await findJob(ledger, given);
  const { jobId } = job;
  if (job.state !== 'complete') {
    throw new Refusal('unmet', `Job ${jobId} is ${job.state}: only complete jobs have results`);
  }
  const folder = await realpath(outputPath(job.spec.out)).catch(() => undefined);
  if (folder && (await idOfResults(folder)) === jobId) return folder;
  throw new Refusal('gone', `The results of job ${jobId} are no longer where it wrote them, or not on this machine`);
}

/** The id at the head of job.json. The rest is not read: it may be long, because it names every source. */
async function idOfResults(folder: string): Promise<string | undefined> {
  const file = await open(join(folder, 'job.json')).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
    return /^\{\s*"id": "([^"\\]+)"/.exec(buffer.toString('utf8', 0, bytesRead))?.[1];
  } finally {
    await file.close();
  }
}
