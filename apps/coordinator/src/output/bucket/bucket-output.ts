import { mkdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { earlierJobPath, outputPath } from '@halogrid/jobs/output-paths';
import type { JobSpec } from '@halogrid/proto';
import { named, sentence } from '@halogrid/proto/sentence';
import { isOwnPath } from '@halogrid/results/output-entries';
import { exists, readyOutput } from '@halogrid/results/publish-output';
import { UsageError } from '@halogrid/service';
import { BucketPrefix } from '@halogrid/sources';
import { isSameJob, type JobClaim } from '../job-claim.ts';
import { bringEarlier } from './bring-earlier.ts';
import { bringLogged } from './bring-logged.ts';
import { claimUri, endHead, type Head, readHead, takeHead } from './bucket-claims.ts';
import { isOfOutput } from './is-of-output.ts';
import { removeJobObjects } from './job-objects.ts';
import { createPublication, publish, readPublication } from './publication.ts';
import { stageOutput } from './stage-output.ts';

/*
 * An output in a bucket. Its job runs in a folder on this machine (see outputPath) as any job does; the bucket gets a
 * claim when the job begins, and its files when the job is complete. So the folder holds all that a job needs to go on,
 * and the bucket never has half an output.
 */

/** How the coordinator shares its jobs, and what it tells its operator. */
export interface BucketContext {
  /** Whether other coordinators lead jobs of the same registry. */
  isShared: boolean;
  isAlive: (coordinator: JobClaim['coordinator']) => Promise<boolean>;
  warn: (sentence: string) => void;
}

/** What a job finds that is about to claim an output in a bucket: the last claim, and job.json. */
export interface Found {
  head: Head;
  manifest: Buffer | undefined;
}

/**
 * Looks at an output in a bucket for a job that is about to claim it. An earlier job's output that only had to be
 * published is published; nothing else changes. Rejects with UsageError if the output is in use.
 */
export async function enterBucket(out: string, spec: JobSpec, context: BucketContext): Promise<Found> {
  const prefix = new BucketPrefix(out);
  const folder = outputPath(out);
  await checkConditions(prefix, context);
  let head = await readHead(prefix);
  refuseRemoval(prefix, head);
  if (head.claim && !(await context.isAlive(head.claim.coordinator)) && (await publishLeft(prefix, head, folder))) {
    head = await readHead(prefix);
  }
  if (head.claim) await refuseHeld(prefix, head, spec, context);
  const manifest = await prefix.get('job.json');
  if (!manifest) await refuseForeign(prefix);
  return { head, manifest };
}

/**
 * Claims an output in a bucket. Only then is its folder touched, because several processes of this machine may get
 * here: afterwards it has the job.json of the bucket, or is missing. Rejects with UsageError if another job was faster.
 */
export async function claimBucket(out: string, { head, manifest }: Found, claimText: string): Promise<void> {
  const prefix = new BucketPrefix(out);
  const folder = outputPath(out);
  if (!(await takeHead(prefix, head, claimText))) {
    throw new UsageError(`The output '${out}' was taken by another job just now`);
  }
  try {
    // The job that had it before may still run elsewhere. Its uploads must not appear any more.
    if (head.claim) await prefix.uploads.abortAll(isOwnPath);
    await removeJobObjects(prefix);
    await removeFolder(out);
    if (!manifest) return;
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'job.json'), manifest);
  } catch (error) {
    await giveBucketBack(out, JSON.parse(claimText).id);
    throw error;
  }
}

/** Brings the earlier output along, for a job that has claimed it and keeps results of it. */
export async function bringKept(out: string): Promise<void> {
  if (await exists(earlierJobPath(out))) await bringEarlier(new BucketPrefix(out), outputPath(out));
}

/**
 * Makes the folder of a job that another coordinator led, perhaps on another machine, and that this one goes on with.
 * If its output only has to be published, publishes it. Does nothing if the job has lost the output. Nothing that the
 * earlier leader has sent appears any more.
 */
export async function bringJob(out: string, { jobId, spec }: { jobId: string; spec: JobSpec }): Promise<void> {
  const prefix = new BucketPrefix(out);
  const folder = outputPath(out);
  const head = await readHead(prefix);
  if (head.claim?.id !== jobId) return;
  const publication = await readPublication(prefix, head);
  if (publication) return await publish(prefix, head, publication);
  await prefix.uploads.abortAll(isOfOutput);
  if ((await idInFolder(folder)) === jobId) return;
  await removeFolder(out);
  const manifest = await prefix.get('job.json');
  await mkdir(dirname(earlierJobPath(out)), { recursive: true });
  if (manifest) {
    await writeFile(earlierJobPath(out), manifest);
    if (!spec.fresh) await bringEarlier(prefix, folder);
  }
  // Last, so that an interrupted folder is made again.
  await writeFile(join(folder, 'job.json'), `${JSON.stringify(head.claim, null, 2)}\n`);
}

/**
 * Makes the folder of a share of this specification that is whole in the bucket, so that its job can be asked for
 * again: its job.json, and its logs, which say that everything is done. Does nothing if there is no such share.
 */
export async function bringShare(out: string, spec: JobSpec, isAlive: BucketContext['isAlive']): Promise<void> {
  const prefix = new BucketPrefix(out);
  const folder = outputPath(out);
  const head = await readHead(prefix);
  if (head.claim && ((await isAlive(head.claim.coordinator)) || !(await publishLeft(prefix, head, folder)))) return;
  const manifest = await manifestOf(prefix);
  if (manifest?.state !== 'part' || !isSameJob(manifest, spec)) return;
  await removeFolder(out);
  await bringLogged(prefix, 'logs', join(folder, '.halogrid'));
  // Last, so that an interrupted folder is made again.
  await writeFile(join(folder, 'job.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/**
 * Ends the claim of a job that could not begin, and removes its folder; unless it has begun to publish, which the next
 * job in this output completes.
 */
export async function giveBucketBack(out: string, jobId: string): Promise<void> {
  if (await isPublishing(new BucketPrefix(out), jobId).catch(() => false)) return;
  await removeFolder(out).catch(() => {});
  await leaveBucket(out, jobId, undefined).catch(() => {});
}

/** The claim of the bucket, if it is this job's; otherwise the job.json of the job that completed it. */
export async function claimInBucket(out: string, jobId: string): Promise<'own' | JobClaim | undefined> {
  const prefix = new BucketPrefix(out);
  const { claim } = await readHead(prefix);
  return claim?.id === jobId ? 'own' : (claim ?? (await manifestOf(prefix)));
}

/**
 * Publishes the complete new output of the leader with this epoch, which is in the folder. It may be interrupted at any
 * point, and is then repeated, also by a later leader. Rejects if the job has lost the output to another one.
 */
export async function publishToBucket(out: string, jobId: string, epoch: number): Promise<void> {
  const prefix = new BucketPrefix(out);
  const head = await readHead(prefix);
  if (head.claim?.id !== jobId) {
    // An earlier attempt may have been interrupted after its last step.
    if (await isManifestOf(prefix, head, jobId)) return;
    const now = head.claim ? `job ${head.claim.id}` : 'another job';
    throw new UsageError(`The output '${out}' was taken over by ${now}`);
  }
  if (!(await readPublication(prefix, head))) {
    const staged = await stageOutput(prefix, outputPath(out), epoch, head.claim);
    await createPublication(prefix, head, staged);
    // A leader that stood still finds that the next one has published.
    if ((await readHead(prefix)).number !== head.number) return await publishToBucket(out, jobId, epoch);
  }
  await publish(prefix, head, (await readPublication(prefix, head))!);
}

/** Whether this job has noted what it publishes, and has not ended. */
async function isPublishing(prefix: BucketPrefix, jobId: string): Promise<boolean> {
  const head = await readHead(prefix);
  return head.claim?.id === jobId && (await readPublication(prefix, head)) !== undefined;
}

/** Whether the results of this job are in the bucket, whole. */
export async function isPublished(out: string, jobId: string): Promise<boolean> {
  const prefix = new BucketPrefix(out);
  return isManifestOf(prefix, await readHead(prefix), jobId);
}

const isManifestOf = async (prefix: BucketPrefix, { claim }: Head, jobId: string): Promise<boolean> =>
  !claim && (await manifestOf(prefix))?.id === jobId;

/**
 * Ends the claim of a job without results. `text` is its job.json, which the bucket gets unless it has an earlier job's
 * results.
 */
export async function leaveBucket(out: string, jobId: string, text: string | undefined): Promise<void> {
  const prefix = new BucketPrefix(out);
  const head = await readHead(prefix);
  if (head.claim?.id !== jobId) return;
  if (text !== undefined) await prefix.put('job.json', Buffer.from(text));
  await prefix.uploads.abortAll(isOwnPath);
  await removeJobObjects(prefix, jobId);
  await endHead(prefix, head);
}

/** Removes the folder of an output in a bucket, and the folders above it that are empty then. */
export async function removeFolder(out: string): Promise<void> {
  const folder = outputPath(out);
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  const depth = out.slice('s3://'.length).split('/').length;
  let above = dirname(folder);
  for (let left = depth - 1; left > 0; left--, above = dirname(above)) {
    const isRemoved = await rmdir(above).then(
      () => true,
      () => false,
    );
    if (!isRemoved) return;
  }
}

/** Publishes the output of a job that ended before all of it was in place. Returns false if there is no such output. */
async function publishLeft(prefix: BucketPrefix, head: Head, folder: string): Promise<boolean> {
  const publication = await readPublication(prefix, head);
  if (publication) {
    await publish(prefix, head, publication);
    return true;
  }
  const ready = (await idInFolder(folder)) === head.claim!.id ? await readyOutput(folder) : undefined;
  if (ready === undefined) return false;
  await publishToBucket(prefix.uri, head.claim!.id, ready);
  return true;
}

/** A removal that was interrupted has left some of the objects. */
function refuseRemoval(prefix: BucketPrefix, { claim }: Head): void {
  if (claim?.removes === undefined) return;
  throw new UsageError(
    sentence`The output '${prefix.uri}' of job ${claim.removes} is being removed, or its removal was interrupted: 'halogrid rm ${prefix.uri}' goes on with it; or give another ${named('out')}`,
  );
}

/** The sources of a job that ended half-way may be computed again, by the same job only. */
async function refuseHeld(prefix: BucketPrefix, head: Head, spec: JobSpec, { isAlive }: BucketContext): Promise<void> {
  const { id, coordinator } = head.claim!;
  const who = coordinator ? `process ${coordinator.pid} on '${coordinator.host}'` : 'another process';
  if (await isAlive(coordinator)) {
    throw new UsageError(
      `The output '${prefix.uri}' is in use by job ${id}, which ${who} still runs: wait for its end`,
    );
  }
  if (isSameJob(head.claim!, spec)) return;
  throw new UsageError(
    sentence`The output '${prefix.uri}' is claimed by job ${id} of ${who}, which is another job: wait for its end, give another ${named('out')}, or, if that process is gone for good, remove '${claimUri(prefix, head)}'`,
  );
}

async function refuseForeign(prefix: BucketPrefix): Promise<void> {
  for await (const name of prefix.listLevel()) {
    if (name === '.halogrid/') continue;
    throw new UsageError(
      sentence`The output '${prefix.uri}' is not empty and holds no job of halogrid (it has '${name}'): give another ${named('out')}`,
    );
  }
}

/** By bucket and server: whether of several programs that create an object only one succeeds. */
const conditions = new Map<string, Promise<boolean>>();

async function checkConditions(prefix: BucketPrefix, { isShared, warn }: BucketContext): Promise<void> {
  const key = `${process.env.AWS_ENDPOINT_URL_S3 ?? process.env.AWS_ENDPOINT_URL} ${prefix.bucket}`;
  const asking = conditions.get(key) ?? prefix.createsOnce();
  conditions.set(key, asking);
  const createsOnce = await asking.catch((error) => {
    conditions.delete(key);
    throw error;
  });
  if (createsOnce) return;
  const lacks = `The server of the bucket '${prefix.bucket}' creates an object twice (it ignores If-None-Match)`;
  if (isShared) {
    throw new UsageError(`${lacks}: outputs there need a coordinator that shares its ledger with no other`);
  }
  warn(`${lacks}: see to it that no two coordinators write the same output there`);
}

async function idInFolder(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, 'job.json'), 'utf8').catch(() => '{}');
  try {
    return JSON.parse(text).id;
  } catch {
    return undefined;
  }
}

async function manifestOf(prefix: BucketPrefix): Promise<JobClaim | undefined> {
  const manifest = await prefix.get('job.json');
  return manifest && JSON.parse(manifest.toString());
}
