import { open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { outputPath } from '../job/output-paths.ts';
import { Refusal } from '../job/refusal.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { findJob } from './match-job-id.ts';

/** Why there is no answer: an HTTP status and one sentence. */
export class NoResult extends Error {
  readonly statusCode: number;
  constructor(statusCode: number, sentence: string) {
    super(sentence);
    this.statusCode = statusCode;
  }
}

/** The folder with the results of a job, which is complete and whose results are still there. */
export async function resultsFolder(ledger: Ledger, given: string): Promise<string> {
  const job = await findJob(ledger, given).catch(refuse);
  const { jobId } = job;
  if (job.state !== 'complete')
    throw new NoResult(409, `Job ${jobId} is ${job.state}: only complete jobs have results`);
  const folder = await realpath(outputPath(job.spec.out)).catch(() => undefined);
  if (folder && (await idOfResults(folder)) === jobId) return folder;
  throw new NoResult(410, `The results of job ${jobId} are no longer where it wrote them, or not on this machine`);
}

function refuse(error: unknown): never {
  if (!(error instanceof Refusal)) throw error;
  throw new NoResult(error.kind === 'missing' ? 404 : 400, error.message);
}

/** The id at the head of job.json, which may be long: it names every source. */
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
