import { outputPath } from '@halogrid/jobs/output-paths';
import { Refusal } from '@halogrid/jobs/refusal';
import type { Ledger } from '@halogrid/ledger';
import type { RemoveResponse } from '@halogrid/proto';
import { indexedJobs } from '@halogrid/search/indexed-jobs';
import { isSystemError, whyNotWritten } from '@halogrid/service/system-errors';
import { InputError, isBucketUri, TransferError } from '@halogrid/sources';
import { readStored, removeStored } from '../output/stored-outputs.ts';

export interface Removal {
  ledger: Pick<Ledger, 'getJob' | 'forget'>;
  /** Folders of this coordinator's indexes, by name. */
  indexes: ReadonlyMap<string, string>;
}

/**
 * Removes the output of an ended job, if it is still where the job wrote it, and forgets the job. Rejects with Refusal
 * if the job has not ended, can go on, or its files cannot be removed: then the ledger still has it. A dry run only
 * looks.
 */
export async function removeJob(
  { ledger, indexes }: Removal,
  jobId: string,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<RemoveResponse> {
  const record = await ledger.getJob(jobId);
  if (!record) throw new Refusal('missing', `There is no job ${jobId}`);
  const { state, finishedMs, canGoOn, spec } = record;
  if (finishedMs === 0) throw new Refusal('unmet', `Job ${jobId} is ${state}: cancel it, or wait for its end`);
  if (canGoOn) {
    throw new Refusal('unmet', `Job ${jobId} failed and can go on: submit it again, or cancel it to give it up`);
  }
  const { out } = spec;
  const path = isBucketUri(out) ? out : outputPath(out);
  try {
    const output = await readStored(path);
    // A later job with the same output has replaced the results.
    const removed = output?.jobId === jobId ? await removeStored(output, dryRun) : { files: 0, bytes: 0, stays: [] };
    if (!dryRun) await ledger.forget([jobId]);
    return { jobId, out, ...removed, indexes: removed.files > 0 ? await indexesOf(jobId, indexes) : [] };
  } catch (error) {
    if (error instanceof TransferError || error instanceof InputError) {
      throw new Refusal('unmet', `The results of job ${jobId} in '${path}' cannot be removed: ${error.message}`);
    }
    if (!isSystemError(error)) throw error;
    throw new Refusal(
      'unmet',
      `The results of job ${jobId} in '${path}' cannot be removed: ${whyNotWritten(error)}; change the rights of the folder, or mount it again`,
    );
  }
}

async function indexesOf(jobId: string, indexes: ReadonlyMap<string, string>): Promise<string[]> {
  const names: string[] = [];
  for (const [name, folder] of indexes) if ((await indexedJobs(folder))?.has(jobId)) names.push(name);
  return names;
}
