import { type Found, findOutputs } from '@halogrid/results/find-outputs';
import { measureOutput, type OutputSize } from '@halogrid/results/measure-output';
import { type RemovedOutput, removeOutput } from '@halogrid/results/remove-output';
import { readOutput, type StoredOutput } from '@halogrid/results/stored-output';
import { isBucketUri, toPrefixUri } from '@halogrid/sources/prefix-uri';
import { findInBucket } from './bucket/find-in-bucket.ts';
import { measureInBucket, removeFromBucket } from './bucket/remove-from-bucket.ts';
import { readBucketOutput } from './bucket/stored-in-bucket.ts';

// Outputs to be removed, in folders and in buckets; `at` and `path` are paths or s3: URIs.

/** All outputs in a folder or prefix, and below it. */
export const findStored = (at: string): AsyncGenerator<Found> =>
  isBucketUri(at) ? findInBucket(toPrefixUri(at)) : findOutputs(at);

/** The job of an output; undefined if there is none. Rejects if that cannot be read. */
export const readStored = (at: string): Promise<StoredOutput | undefined> =>
  isBucketUri(at) ? readBucketOutput(at) : readOutput(at);

/** Removes an output, or says what its removal would remove. Rejects as removeOutput does. */
export async function removeStored(output: StoredOutput, dryRun: boolean): Promise<RemovedOutput> {
  if (dryRun) return { ...(await sizeOf(output)), stays: [] };
  return isBucketUri(output.path) ? removeFromBucket(output) : removeOutput(output);
}

const sizeOf = ({ path }: StoredOutput): Promise<OutputSize> =>
  isBucketUri(path) ? measureInBucket(path) : measureOutput(path);
