import { parseJob, type StoredOutput } from '@halogrid/results/stored-output';
import { BucketPrefix } from '@halogrid/sources';
import { readHead } from './bucket-claims.ts';

/**
 * The job of an output in a bucket, as readOutput gives the job of a folder; undefined if there is no output. Rejects
 * with TransferError or InputError if the bucket cannot be read.
 */
export async function readBucketOutput(out: string): Promise<StoredOutput | undefined> {
  const prefix = new BucketPrefix(out);
  const { claim } = await readHead(prefix);
  const job = parseJob(`${await prefix.get('job.json')}`);
  const path = prefix.uri;
  if (claim) {
    const changedMs = await lastChange(prefix);
    const { id, removes, coordinator } = claim;
    const state = removes === undefined ? 'running' : 'removed';
    return { path, jobId: removes ?? id, state, isUnfinished: state === 'running', coordinator, changedMs };
  }
  if (!job) return undefined;
  const { id, state, owner, canGoOn, coordinator } = job;
  const isUnfinished = state === 'running' || canGoOn === true;
  const changedMs = isUnfinished ? await lastChange(prefix) : Date.parse(job.finished ?? '') || 0;
  const whose = typeof owner === 'string' && owner !== '' ? { owner } : {};
  return { path, jobId: id, state, ...whose, isUnfinished, coordinator, changedMs };
}

/** When the job's claim, or something that the job keeps for other coordinators, was last written. */
async function lastChange(prefix: BucketPrefix): Promise<number> {
  let lastMs = 0;
  for await (const { changedMs = 0 } of prefix.list('.halogrid/')) lastMs = Math.max(lastMs, changedMs);
  return lastMs;
}
