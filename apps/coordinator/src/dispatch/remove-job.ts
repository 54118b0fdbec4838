import { outputPath } from '@halogrid/jobs/output-paths';
import { Refusal } from '@halogrid/jobs/refusal';
import type { Ledger } from '@halogrid/ledger';
import type { RemoveResponse } from '@halogrid/proto';
import { measureOutput } from '@halogrid/results/measure-output';
import { removeOutput } from '@halogrid/results/remove-output';
import { readOutput, type StoredOutput } from '@halogrid/results/stored-output';
import { indexedJobs } from '@halogrid/search/indexed-jobs';
import { isSystemError, whyNotWritten } from '@halogrid/service/system-errors';
import { isBucketUri } from '@halogrid/sources/prefix-uri';

export interface Removal {
  ledger: Pick<Ledger, 'getJob' | 'forget'>;
  /** Folders of this coordinator's indexes, by name. */
  indexes: ReadonlyMap<string, string>;
}

/**
 * Removes the output of an ended job, if its folder still has it, and forgets the job. Rejects with Refusal if the job
 * has not ended, can go on, or its files cannot be removed: then the ledger still has it. A dry run only looks.
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
  if (isBucketUri(out)) {
    throw new Refusal(
      'unmet',
      `The results of job ${jobId} are in '${out}': remove the objects there with the bucket's own tools`,
    );
  }
  const path = outputPath(out);
  try {
    const output = await readOutput(path);
    // A later job of the same folder has replaced the results.
    const removed = output?.jobId === jobId ? await removeOrMeasure(output, dryRun) : { files: 0, bytes: 0, stays: [] };
    if (!dryRun) await ledger.forget([jobId]);
    return { jobId, out, ...removed, indexes: removed.files > 0 ? await indexesOf(jobId, indexes) : [] };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    throw new Refusal(
      'unmet',
      `The results of job ${jobId} in '${path}' cannot be removed: ${whyNotWritten(error)}; change the rights of the folder, or mount it again`,
    );
  }
}

const removeOrMeasure = async (output: StoredOutput, dryRun: boolean) =>
  dryRun ? { ...(await measureOutput(output.path)), stays: [] } : removeOutput(output);

async function indexesOf(jobId: string, indexes: ReadonlyMap<string, string>): Promise<string[]> {
  const names: string[] = [];
  for (const [name, folder] of indexes) if ((await indexedJobs(folder))?.has(jobId)) names.push(name);
  return names;
}
