import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { isLogName } from '@halogrid/ledger';
import type { BucketPrefix, ListedObject } from '@halogrid/sources';
import { forEachLimited } from '@halogrid/threads';
import { isOfLogged } from './is-of-output.ts';
import { requestsAtOnce } from './requests-at-once.ts';

const scratchName = '.halogrid/';

/** Whether a path could lead out of the folder that it is below. */
const leadsOut = (name: string): boolean => name.split('/').some((part) => ['', '.', '..'].includes(part));

/** What a plan or part in a bucket has, with its size, by names in `.halogrid`: logs, or everything else. */
async function* listLogged(prefix: BucketPrefix, what: 'logs' | 'results'): AsyncGenerator<ListedObject> {
  for await (const { name, sizeBytes } of prefix.list(scratchName)) {
    const own = name.slice(scratchName.length);
    if (isOfLogged(name) && !leadsOut(own) && isLogName(own) === (what === 'logs')) yield { name: own, sizeBytes };
  }
}

/** Whether a plan or part in a bucket has a log. */
export async function hasLogs(prefix: BucketPrefix): Promise<boolean> {
  for await (const _ of listLogged(prefix, 'logs')) return true;
  return false;
}

/** Brings the logs of a plan or part, or its results, to a folder, which has then what `.halogrid` of a folder has. */
export async function bringLogged(
  prefix: BucketPrefix,
  what: 'logs' | 'results',
  folder: string,
  signal?: AbortSignal,
): Promise<void> {
  await forEachLimited(listLogged(prefix, what), requestsAtOnce, async ({ name, sizeBytes }) => {
    signal?.throwIfAborted();
    const path = join(folder, ...name.split('/'));
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, prefix.readListed({ name: `${scratchName}${name}`, sizeBytes }));
  });
}
