import { open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { outputPath } from '@halogrid/jobs/output-paths';
import { Refusal } from '@halogrid/jobs/refusal';
import type { JobRecord, Ledger } from '@halogrid/ledger';
import { BucketPrefix, InputError, isBucketUri, TransferError } from '@halogrid/sources';
import { findJob } from './match-job-id.ts';

/** The bytes of job.json that have its id. The rest is not read: it may be long, because it names every source. */
const headBytes = 256;

/** Where the results of a complete job are: a folder of this machine, or a prefix of a bucket. */
export type ResultsPlace = { folder: string } | { prefix: BucketPrefix };

/** Rejects with Refusal unless the job is complete and its results are still there. */
export async function resultsPlace(ledger: Ledger, given: string): Promise<ResultsPlace> {
  const job = await findComplete(ledger, given);
  if (!isBucketUri(job.spec.out)) return { folder: await folderOf(job) };
  const prefix = new BucketPrefix(job.spec.out);
  const head = await inBucket(prefix.slice('job.json', 0, headBytes));
  if (idIn(head) === job.jobId) return { prefix };
  throw new Refusal('gone', `The results of job ${job.jobId} are no longer in '${job.spec.out}'`);
}

/** As resultsPlace, for callers that read only folders. */
export async function resultsFolder(ledger: Ledger, given: string): Promise<string> {
  const job = await findComplete(ledger, given);
  if (!isBucketUri(job.spec.out)) return folderOf(job);
  throw new Refusal(
    'unmet',
    `The results of job ${job.jobId} are in '${job.spec.out}': 'halogrid results ${job.jobId} --out DIR' copies them from there`,
  );
}

/** Rejects with Refusal if a bucket cannot be read. */
export async function inBucket<Read>(reading: Promise<Read>): Promise<Read> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof TransferError || error instanceof InputError)) throw error;
    throw new Refusal('unavailable', `The results cannot be read: ${error.message}`);
  }
}

async function findComplete(ledger: Ledger, given: string): Promise<JobRecord> {
  const job = await findJob(ledger, given);
  if (job.state === 'complete') return job;
  throw new Refusal('unmet', `Job ${job.jobId} is ${job.state}: only complete jobs have results`);
}

async function folderOf({ jobId, spec }: JobRecord): Promise<string> {
  const folder = await realpath(outputPath(spec.out)).catch(() => undefined);
  if (folder && (await idOfResults(folder)) === jobId) return folder;
  throw new Refusal('gone', `The results of job ${jobId} are no longer where it wrote them, or not on this machine`);
}

async function idOfResults(folder: string): Promise<string | undefined> {
  const file = await open(join(folder, 'job.json')).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return idIn(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

/** The id at the head of job.json. */
const idIn = (head: Buffer): string | undefined => /^\{\s*"id": "([^"\\]+)"/.exec(head.toString())?.[1];
