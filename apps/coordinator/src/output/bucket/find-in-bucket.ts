import type { Found } from '@halogrid/results/find-outputs';
import { isOwnPath } from '@halogrid/results/output-entries';
import type { StoredOutput } from '@halogrid/results/stored-output';
import { BucketPrefix } from '@halogrid/sources';
import { readBucketOutput } from './stored-in-bucket.ts';

/** All outputs below a prefix of a bucket, as findOutputs finds those in folders. */
export async function* findInBucket(uri: string): AsyncGenerator<Found> {
  const folders: string[] = [];
  let output: StoredOutput | undefined;
  try {
    const prefix = new BucketPrefix(uri);
    let mayBeOutput = false;
    for await (const name of prefix.listLevel()) {
      if (name === 'job.json' || name === '.halogrid/') mayBeOutput = true;
      if (/^[^./].*\/$/s.test(name)) folders.push(name.slice(0, -1));
    }
    if (mayBeOutput) output = await readBucketOutput(uri);
  } catch (error) {
    return yield { kind: 'unreadable', path: uri, why: (error as Error).message };
  }
  if (output) yield { kind: 'output', output };
  // An output may be in a folder inside of another one.
  for (const name of folders) if (!output || !isOwnPath(name)) yield* findInBucket(`${uri}/${name}`);
}
