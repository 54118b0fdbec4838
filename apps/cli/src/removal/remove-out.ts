import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readStored, removeStored } from '@halogrid/coordinator/stored-outputs';
import { findOutputs } from '@halogrid/results/find-outputs';
import { placeAt } from '@halogrid/results/place';
import type { StoredOutput } from '@halogrid/results/stored-output';
import { indexedJobs } from '@halogrid/search/indexed-jobs';
import { UsageError } from '@halogrid/service/usage-error';
import { isBucketUri } from '@halogrid/sources/prefix-uri';
import { whyInUse } from './judge-output.ts';
import { knowJob } from './know-job.ts';

/** What was removed of a job, or would be. */
export interface Removed {
  job: string;
  out: string;
  files: number;
  bytes: number;
  /** Entries of the folder or bucket that no job writes. */
  stays: string[];
  /** Names or folders of indexes that have frames of the job. */
  indexes: string[];
}

/** Whether an argument of `rm` is an output, a folder or s3: URI; otherwise it is a job. */
export const isOutput = async (text: string): Promise<boolean> =>
  /[/\\]/.test(text) || ((await stat(text).catch(() => undefined))?.isDirectory() ?? false);

/** The output in a folder or at an s3: URI, if it may be removed. Rejects with UsageError. */
export async function removableOutput(folder: string, unfinished: boolean): Promise<StoredOutput> {
  const output = await readStored(placeAt(folder).at);
  if (!output) throw new UsageError(`'${folder}' is not the output of a job: it has no job.json of halogrid`);
  const why = whyInUse(output, await knowJob(output));
  if (why !== undefined) throw new UsageError(`Job ${output.jobId} in '${folder}' stays: ${why}`);
  if (output.isUnfinished && !unfinished) {
    throw new UsageError(
      `Job ${output.jobId} in '${folder}' has not ended: the same command goes on with it, and so does its coordinator; --unfinished removes it`,
    );
  }
  return output;
}

export async function removeOut(output: StoredOutput, dryRun: boolean): Promise<Removed> {
  const { jobId: job, path: out } = output;
  // The index is looked for first: a folder of the output's own name may be all that is beside it.
  const indexes = await indexesBeside(output);
  return { job, out, ...(await removeStored(output, dryRun)), indexes };
}

/** Indexes in the folder above the output that have frames of the job. */
async function indexesBeside({ path, jobId }: StoredOutput): Promise<string[]> {
  const found: string[] = [];
  if (isBucketUri(path)) return found;
  for await (const { kind, ...at } of findOutputs(dirname(path), 1)) {
    if (kind === 'manifest' && 'path' in at && (await indexedJobs(at.path))?.has(jobId)) found.push(at.path);
  }
  return found;
}
