import { mkdir, readdir, readFile, rename, rmdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { lackOf } from '@halogrid/jobs/output-lack';
import { earlierJobPath, ledgerPath, outputName, outputPath, scratchUri } from '@halogrid/jobs/output-paths';
import { isLogName } from '@halogrid/ledger';
import type { JobSpec } from '@halogrid/proto';
import { named, sentence } from '@halogrid/proto/sentence';
import {
  createClaim,
  isLeftOver,
  overwriteClaim,
  removeLeftOvers,
  replaceClaim,
  restoreClaim,
} from '@halogrid/results/claim-file';
import { isProcessAlive } from '@halogrid/results/is-process-alive';
import { exists, publishOutput, readyOutput } from '@halogrid/results/publish-output';
import { isSystemError, makeFolders, UsageError } from '@halogrid/service';
import { isBucketUri } from '@halogrid/sources';
import {
  bringJob,
  bringKept,
  bringShare,
  claimBucket,
  claimInBucket,
  enterBucket,
  giveBucketBack,
} from './bucket/bucket-output.ts';
import { inUse, otherJob, refusalOf, takenJustNow } from './claim-refusals.ts';
import { isSameJob, isUnfinished, type JobClaim, parseClaim } from './job-claim.ts';
import { runningJobJson } from './job-json.ts';
import { followJob } from './previous/follow-job.ts';
import { clearScratch, makeScratch, removeOutput, removeScratch, removeUnfinishedTables } from './scratch-folder.ts';
import { type Difference, specDifferences } from './spec-differences.ts';

/** A job that is about to run. */
interface NewJob {
  jobId: string;
  spec: JobSpec;
  owner?: string | undefined;
}

/** For an output in a bucket: whether other coordinators lead jobs of the same registry, and who is told of it. */
export interface ClaimContext {
  isShared?: boolean;
  warn?: (sentence: string) => void;
}

/** Jobs of this process, by the folder that each holds. */
const held = new Map<string, { jobId: string; released: PromiseWithResolvers<void> }>();

/**
 * The ledger records a job's end soon after its folder does. If the ledger cannot be written, the next job does not
 * wait for long.
 */
const endsWithinMs = 5_000;

/**
 * Takes the output folder for a job: makes it if it is missing, writes job.json with state "running", and makes the
 * scratch folder.
 *
 * A folder may be missing or empty, or hold a job of the same specification that is not running: its remains are
 * removed. The output of a complete job that this one may follow (see followJob) stays until publishOutput, for this
 * job to use. If a process ended while it published, its output is moved into place first. Anything else is refused
 * with UsageError, and nothing is written. If several jobs claim it at once, in this process or in others, one wins. A
 * job counts as running while its process does. A process on another host cannot be seen: its job counts as stopped.
 */
export async function claimOutputFolder(
  out: string,
  job: NewJob,
  { isShared = false, warn = () => {} }: ClaimContext = {},
): Promise<void> {
  const path = outputPath(out);
  await hold(path, job.jobId);
  const isInBucket = isBucketUri(out);
  let isClaimed = false;
  try {
    if (isInBucket) {
      const found = await enterBucket(out, job.spec, { isShared, warn, isAlive: isProcessAlive });
      if (found.manifest) refuseOther(path, found.manifest.toString(), job.spec);
      await claimBucket(out, found, claimText(job));
      isClaimed = true;
    }
    await restoreClaim(path);
    await undoHalfClaim(path);
    const existing = await readClaim(path);
    if (existing) await replaceJob(path, existing, job);
    else await enterFolder(path, job);
    await removeLeftOvers(path, claimText(job));
    await makeScratch(out, job.spec);
    if (isInBucket && !job.spec.fresh) await bringKept(out);
  } catch (error) {
    if (isClaimed) await giveBucketBack(out, job.jobId);
    letGo(path);
    throw refusalOf(path, error);
  }
}

/** Throws UsageError if the job.json of a bucket is of a job that this one may not replace. */
function refuseOther(path: string, text: string, spec: JobSpec): void {
  const existing = readableClaim(path, text);
  const differences = differencesOf(existing, spec);
  if (differences) throw otherJob(path, existing, differences, undefined);
}

/**
 * Takes over the output folder of this job from its earlier process, which has ended or must not write any more.
 * Resolves with the content of its job.json. If the job has ended for good, the folder is left alone. Rejects with
 * UsageError if the folder does not belong to this job, or if another process takes it at the same time. `isShared`:
 * the earlier process may have been a coordinator on another machine, where the folder of an output in a bucket is.
 */
export async function resumeOutputFolder(out: string, job: NewJob, isShared = false): Promise<JobClaim> {
  const path = outputPath(out);
  await hold(path, job.jobId);
  try {
    if (isShared && isBucketUri(out)) await bringJob(out, job);
    await restoreClaim(path);
    const existing = (await claimElsewhere(out, job.jobId)) ?? (await readClaim(path));
    if (existing?.id !== job.jobId) {
      const now = existing ? `job ${existing.id}` : 'no job';
      throw new UsageError(
        `The output folder '${outputName(path)}' holds ${now} instead of job ${job.jobId}, which began there`,
      );
    }
    if (isUnfinished(existing)) {
      // A part that is whole in a bucket may have been asked for again, and this interrupted.
      const here = await readClaim(path);
      await takeOver(path, here?.id === job.jobId ? here : existing, job);
      await removeLeftOvers(path, claimText(job));
      await makeScratch(out, job.spec);
      await removeUnfinishedTables(out);
    } else letGo(path);
    return existing;
  } catch (error) {
    letGo(path);
    throw refusalOf(path, error);
  }
}

/** For an output in a bucket that is not this job's any more: the claim or the job.json that is there now. */
async function claimElsewhere(out: string, jobId: string): Promise<JobClaim | undefined> {
  if (!isBucketUri(out)) return undefined;
  // While the store is away the job goes on: its claim is checked again before anything is published.
  const claim = await claimInBucket(out, jobId).catch((error) => (lackOf(error) ? 'own' : Promise.reject(error)));
  return claim === 'own' ? undefined : claim;
}

/**
 * The unfinished job of this specification in the folder, whose process ended, or which failed and can go on. A job
 * that kept earlier results, and a share that is done, are not found for a specification that keeps none (`fresh`).
 * Rejects with UsageError while a process runs it: if the job ended a moment later, claimOutputFolder would remove its
 * results.
 */
export async function findUnfinished(spec: JobSpec): Promise<{ jobId: string } | undefined> {
  const path = outputPath(spec.out);
  await restoreClaim(path);
  let claim = await readClaim(path).catch(() => undefined);
  if (!claim && isBucketUri(spec.out) && spec.share && !spec.fresh && !held.has(path)) {
    await bringShare(spec.out, spec, isProcessAlive).catch((error) => Promise.reject(refusalOf(path, error)));
    claim = await readClaim(path);
  }
  if (!claim || !isUnfinished(claim) || held.has(path) || !isSameJob(claim, spec)) return undefined;
  if (spec.fresh && (claim.state === 'part' || !claim.specification.fresh)) return undefined;
  if (isBucketUri(spec.out) && !(await isInBucket(spec.out, claim))) return undefined;
  if (!(await isProcessAlive(claim.coordinator))) return { jobId: claim.id };
  if (claim.state === 'running') throw inUse(path, claim);
  return undefined;
}

/** Whether a job of a folder has its output in the bucket, or has left it there as a share. */
async function isInBucket(out: string, { id }: JobClaim): Promise<boolean> {
  const there = await claimInBucket(out, id);
  return there === 'own' || (there?.id === id && there.state === 'part');
}

/** Whether the folder has logs of the job that ran in it, or the ledger that an earlier version kept there. */
export async function hasOwnLedger(out: string): Promise<boolean> {
  if (await exists(ledgerPath(out))) return true;
  const names = await readdir(fileURLToPath(scratchUri(out))).catch((): string[] => []);
  return names.some(isLogName);
}

/** Releases the folder of an ended job for other jobs of this process. `jobId`: only if this job has it. */
export function releaseOutputFolder(out: string, jobId?: string): void {
  const path = outputPath(out);
  if (jobId === undefined || held.get(path)?.jobId === jobId) letGo(path);
}

/**
 * Takes a folder for a job of this process. Throws UsageError if another job has it, but waits for the release by a job
 * that has ended. A job that tries again to take over its folder has it already.
 */
async function hold(path: string, jobId: string): Promise<void> {
  const holder = held.get(path);
  if (holder?.jobId === jobId) return;
  if (holder) {
    const claim = await readClaim(path).catch(() => undefined);
    const hasEnded = claim?.id === holder.jobId && claim.state !== 'running';
    // A caller that learns of the job's end may submit the next job before the folder is released.
    if (hasEnded) await Promise.race([holder.released.promise, delay(endsWithinMs, undefined, { ref: false })]);
  }
  if (held.has(path))
    throw new UsageError(`The output folder '${outputName(path)}' is in use by another job of this coordinator`);
  held.set(path, { jobId, released: Promise.withResolvers() });
}

function letGo(path: string): void {
  held.get(path)?.released.resolve();
  held.delete(path);
}

/** The job.json of the folder; undefined if it is missing. */
async function readClaim(path: string): Promise<JobClaim | undefined> {
  let text: string;
  try {
    text = await readFile(join(path, 'job.json'), 'utf8');
  } catch (error) {
    if (!isSystemError(error)) throw error;
    if (error.code === 'ENOENT') return undefined;
    if (error.code === 'ENOTDIR') throw new UsageError(`Expected a folder for the output but '${path}' is a file`);
    throw error;
  }
  return readableClaim(path, text);
}

/** Throws UsageError if the text is not a job.json of ours. */
function readableClaim(path: string, text: string): JobClaim {
  const claim = parseClaim(text);
  if (!claim)
    throw new UsageError(`The output folder '${outputName(path)}' holds a job.json that is not of a halogrid job`);
  return claim;
}

async function enterFolder(path: string, job: NewJob): Promise<void> {
  const firstMade = await makeFolders(path);
  try {
    const [foreign] = (await readdir(path)).filter((name) => !isLeftOver(name));
    if (foreign === 'job.json') throw takenJustNow(path);
    if (foreign) {
      throw new UsageError(
        sentence`The output folder '${outputName(path)}' is not empty and holds no job of halogrid (it has '${foreign}'): give another ${named('out')}`,
      );
    }
    await takeNew(path, job);
  } catch (error) {
    if (firstMade) await removeEmptyFolders(path, firstMade);
    throw error;
  }
}

/**
 * Replaces a job that has stopped or ended, if it has the same specification, or is complete and may be followed or has
 * no result.
 */
async function replaceJob(path: string, existing: JobClaim, job: NewJob): Promise<void> {
  if (existing.state === 'running' && (await isProcessAlive(existing.coordinator))) throw inUse(path, existing);
  const differences = differencesOf(existing, job.spec);
  if (differences && !isEmpty(existing)) {
    throw otherJob(path, existing, differences, await untouchedOf(path, existing));
  }
  const out = pathToFileURL(path).href;
  if (existing.state === 'complete' && !differences) return setAside(path, job);
  await takeOver(path, existing, job);
  const ready = await readyOutput(path);
  if (ready !== undefined) {
    await publishOutput(path, ready);
    await setAside(path, job);
  } else if (await exists(earlierJobPath(out))) await clearScratch(path);
  else await removeOutput(out);
}

/** Whether a complete job has no result, as if all of its inputs need an option that was not given. */
const isEmpty = ({ state, counts }: JobClaim): boolean => state === 'complete' && counts?.frames === 0;

/** Replaces a complete job, whose output stays. */
async function setAside(path: string, job: NewJob): Promise<void> {
  const [claim, earlier] = [join(path, 'job.json'), earlierJobPath(pathToFileURL(path).href)];
  await mkdir(dirname(earlier), { recursive: true });
  // If several jobs get here, this succeeds for one.
  await rename(claim, earlier).catch((error) => {
    throw isSystemError(error) && error.code === 'ENOENT' ? takenJustNow(path) : error;
  });
  try {
    await takeNew(path, job);
  } catch (error) {
    await undoHalfClaim(path);
    throw error;
  }
  await clearScratch(path);
}

/** Restores the claim of a complete job, after a process ended while it took the folder. */
async function undoHalfClaim(path: string): Promise<void> {
  const earlier = earlierJobPath(pathToFileURL(path).href);
  if ((await exists(join(path, 'job.json'))) || !(await exists(earlier))) return;
  const text = await readFile(earlier, 'utf8').catch(() => undefined);
  // If it is gone by now, another process was faster and has the folder.
  if (text !== undefined) await createClaim(path, text);
}

/** Gives the folder back to the complete job whose output is still in it; false if there is no such job. */
export async function restoreEarlier(out: string): Promise<boolean> {
  if (!(await exists(earlierJobPath(out)))) return false;
  await rename(earlierJobPath(out), join(outputPath(out), 'job.json'));
  await removeScratch(out);
  return true;
}

/** Writes job.json in place of `existing`. */
async function takeOver(path: string, existing: JobClaim, job: NewJob): Promise<void> {
  const isExpected = (before: string) => isDeepStrictEqual(parseClaim(before), existing);
  try {
    if (!(await replaceClaim(path, claimText(job), isExpected))) throw takenJustNow(path);
  } catch (error) {
    // On a full disk, a job that goes on overwrites its old claim in place, and waits for room later.
    const isFull = lackOf(error)?.kind === 'room' && existing.id === job.jobId;
    if (!isFull || !(await overwriteClaim(path, claimText(job)))) throw error;
  }
}

/** Writes job.json, unless there is one. */
async function takeNew(path: string, job: NewJob): Promise<void> {
  if (!(await createClaim(path, claimText(job)))) throw takenJustNow(path);
}

const claimText = (job: NewJob): string => runningJobJson(job, { host: hostname(), pid: process.pid });

/** Removes `path` and its parents up to `first`, as long as nobody has put anything there. */
async function removeEmptyFolders(path: string, first: string): Promise<void> {
  try {
    for (let folder = path; folder.length >= first.length; folder = dirname(folder)) await rmdir(folder);
  } catch {
    // Another job has it by now.
  }
}

/** Why a job may not replace the one in the folder; undefined if it may. */
function differencesOf(existing: JobClaim, spec: JobSpec): Difference[] | undefined {
  if (existing.state !== 'complete') {
    return isSameJob(existing, spec) ? undefined : specDifferences(existing.specification, spec);
  }
  const following = followJob(existing, spec);
  return following.kind === 'refused' ? following.differences : undefined;
}

/** The complete job whose output is in the folder as it was before `existing` began and was left half-way. */
async function untouchedOf(path: string, existing: JobClaim): Promise<JobClaim | undefined> {
  if (existing.state === 'complete' || (await readyOutput(path)) !== undefined) return undefined;
  return parseClaim(await readFile(earlierJobPath(pathToFileURL(path).href), 'utf8').catch(() => 'null'));
}
