import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { findOutputs } from '@halogrid/results/find-outputs';
import { measureOutput } from '@halogrid/results/measure-output';
import { removeOutput } from '@halogrid/results/remove-output';
import { readOutput, type StoredOutput } from '@halogrid/results/stored-output';
import { indexedJobs } from '@halogrid/search/indexed-jobs';
import { UsageError } from '@halogrid/service/usage-error';
import { whyInUse } from './judge-output.ts';
import { knowJob } from './know-job.ts';

/** What was removed of a job, or would be. */
export interface Removed {
  job: string;
  out: string;
  files: number;
  bytes: number;
  /** Entries of the folder that no job writes. */
  stays: string[];
  /** Names or folders of indexes that have frames of the job. */
  indexes: string[];
}

/** Whether an argument of `rm` is a folder; otherwise it is a job. */
export const isFolder = async (text: string): Promise<boolean> =>
  /[/\\]/.test(text) || ((await stat(text).catch(() => undefined))?.isDirectory() ?? false);

/** The output in a folder, if it may be removed. Rejects with UsageError. */
export async function removableOutput(folder: string, unfinished: boolean): Promise<StoredOutput> {
  const output = await readOutput(resolve(folder));
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

export async function removeFolder(output: StoredOutput, dryRun: boolean): Promise<Removed> {
  const { jobId: job, path: out } = output;
  // The index is looked for first: a folder of the output's own name may be all that is beside it.
  const indexes = await indexesBeside(output);
  const done = dryRun ? { ...(await measureOutput(out)), stays: [] } : await removeOutput(output);
  return { job, out, ...done, indexes };
}

/** Indexes in the folder above, that have frames of the job. */
async function indexesBeside({ path, jobId }: StoredOutput): Promise<string[]> {
  const found: string[] = [];
  for await (const { kind, ...at } of findOutputs(dirname(path), 1)) {
    if (kind === 'manifest' && 'path' in at && (await indexedJobs(at.path))?.has(jobId)) found.push(at.path);
  }
  return found;
}
