import { hostname } from 'node:os';
import { JobSpec } from '@halogrid/proto';
import { isProcessAlive } from '@halogrid/results/is-process-alive';
import type { OutputSize } from '@halogrid/results/measure-output';
import { isOwnPath } from '@halogrid/results/output-entries';
import type { RemovedOutput } from '@halogrid/results/remove-output';
import type { StoredOutput } from '@halogrid/results/stored-output';
import { BucketPrefix, type ListedObject } from '@halogrid/sources';
import { forEachLimited } from '@halogrid/threads';
import type { JobClaim } from '../job-claim.ts';
import { claimsFolder, endHead, type Head, hasHead, readHead, takeHead } from './bucket-claims.ts';
import { removeFolder } from './bucket-output.ts';
import { requestsAtOnce } from './requests-at-once.ts';
import { readBucketOutput } from './stored-in-bucket.ts';

/** Objects that are removed between two looks at the claims. */
const objectsAtOnce = 256;

/** What a job has below a prefix, but for the claims, which are never removed. */
async function* ownObjects(prefix: BucketPrefix, stays = new Set<string>()): AsyncGenerator<ListedObject> {
  for await (const listed of prefix.list()) {
    const { name } = listed;
    const top = name.split('/', 1)[0]!;
    if (name.startsWith(claimsFolder)) continue;
    if (isOwnPath(name)) yield listed;
    else stays.add(isOwnPath(top) ? name : top);
  }
}

/** How many objects a job has there, and how long they are together. */
export async function measureInBucket(out: string): Promise<OutputSize> {
  const size: OutputSize = { files: 0, bytes: 0 };
  for await (const { sizeBytes } of ownObjects(new BucketPrefix(out))) {
    size.files++;
    size.bytes += sizeBytes;
  }
  return size;
}

/**
 * Removes the objects of a job, as removeOutput removes its files: job.json first, and objects of somebody else stay. A
 * claim keeps other jobs away meanwhile; if the removal is interrupted, the next one goes on. Rejects if another job
 * has the output by now.
 */
export async function removeFromBucket(output: StoredOutput): Promise<RemovedOutput> {
  const prefix = new BucketPrefix(output.path);
  const head = await takeForRemoval(prefix, output);
  await prefix.uploads.abortAll(isOwnPath);
  const stays = new Set<string>();
  const removed: RemovedOutput = { files: 0, bytes: 0, stays: [] };
  const remove = async (objects: readonly ListedObject[]): Promise<void> => {
    if (!(await hasHead(prefix, head))) throw takenJustNow(output);
    await forEachLimited(objects, requestsAtOnce, async ({ name, sizeBytes }) => {
      await prefix.remove(name);
      removed.files++;
      removed.bytes += sizeBytes;
    });
  };
  const manifest = await prefix.head('job.json');
  if (manifest) await remove([{ name: 'job.json', sizeBytes: manifest.sizeBytes }]);
  let some: ListedObject[] = [];
  for await (const listed of ownObjects(prefix, stays)) {
    // A store may list job.json still.
    if (listed.name !== 'job.json') some.push(listed);
    if (some.length < objectsAtOnce) continue;
    await remove(some);
    some = [];
  }
  await remove(some);
  if (output.isUnfinished) await removeFolder(output.path);
  await endHead(prefix, head);
  return { ...removed, stays: [...stays].sort() };
}

const takenJustNow = ({ path, jobId }: StoredOutput): Error =>
  new Error(`The output '${path}' of job ${jobId} was taken by another job just now`);

/** Claims an output for its removal, unless something has changed since it was looked at. */
async function takeForRemoval(prefix: BucketPrefix, output: StoredOutput): Promise<Head> {
  const { path, jobId, state } = output;
  const before = await readHead(prefix);
  const now = await readBucketOutput(path);
  const remover = before.claim?.coordinator;
  if (before.claim?.removes !== undefined && (await isProcessAlive(remover))) {
    throw new Error(`Process ${remover!.pid} removes the output '${path}': wait for its end`);
  }
  const claim: JobClaim = {
    id: `of the removal of ${jobId}`,
    state: 'running',
    removes: jobId,
    // No job has this specification, so none goes on with it.
    specification: JobSpec.fromPartial({}),
    coordinator: { host: hostname(), pid: process.pid },
  };
  const isSame = now?.jobId === jobId && now.state === state;
  if (!isSame || !(await takeHead(prefix, before, `${JSON.stringify(claim)}\n`))) {
    throw takenJustNow(output);
  }
  return { number: before.number + 1, claim };
}
