import { join } from 'node:path';
import { outputPath } from '@halogrid/jobs/output-paths';
import { planDigest } from '@halogrid/jobs/plan-digest';
import type { JobResults } from '@halogrid/ledger';
import { writeFileAtomically } from '@halogrid/results';
import { linkTree } from '@halogrid/results/link-tree';
import { isOutputPlace, newFilesPath, takeOverOutput } from '@halogrid/results/publish-output';
import { isBucketUri } from '@halogrid/sources';
import { isPublished, publishToBucket } from './bucket/bucket-output.ts';
import type { FinaliseBegun, FinishedOutput } from './finalise.ts';
import { shareJobJson } from './job-json.ts';
import { atOnce } from './output-wait.ts';
import { removeScratch } from './scratch-folder.ts';
import type { TablesOutput } from './tables-output.ts';

/** Who ends a plan or share, and how files are written. */
type LoggedBegun = Pick<FinaliseBegun, 'epoch' | 'confirm' | 'until'>;

/** Whether an entry of `.halogrid` is of a plan or part, and not only of the process that makes it. */
export const isOfPart = (name: string): boolean => !isOutputPlace(name) && !name.endsWith('.tmp');

/**
 * Ends a job that did its share: its log and the parts and chunks of its shards stay. job.json has the state `part` and
 * the digest of the plan. Rejects with the system's error if job.json cannot be written.
 */
export async function finishShare(results: JobResults, begun: LoggedBegun, now: () => number): Promise<FinishedOutput> {
  const { jobId, spec } = results.job;
  await finishLogged({ jobId, out: spec.out }, shareJobJson(results, await planDigest(results.plan()), now()), begun);
  return finishedShare;
}

/** A share has neither a digest nor capture times. */
const finishedShare: FinishedOutput = { digest: '', captured: undefined };

/** Ends a share that is whole in its bucket, whose job was only asked for again; undefined if it is not. */
export async function endPublishedShare({ job }: JobResults): Promise<FinishedOutput | undefined> {
  const { jobId, spec } = job;
  if (!isBucketUri(spec.out) || !(await isPublished(spec.out, jobId))) return undefined;
  await removeScratch(spec.out);
  return finishedShare;
}

/**
 * Ends a job whose log is what it leaves, with this job.json. In a bucket, everything that its folder has appears as
 * any output does, and its folder is removed.
 */
export async function finishLogged(
  { jobId, out }: { jobId: string; out: string },
  jobJson: string,
  { epoch = 1, confirm = async () => {}, until = atOnce }: LoggedBegun = {},
): Promise<void> {
  const folder = outputPath(out);
  if (!isBucketUri(out)) {
    await confirm();
    return until(() => writeFileAtomically(join(folder, 'job.json'), jobJson));
  }
  if (!(await until(() => takeOverOutput(folder, epoch)))) {
    const files = newFilesPath(folder, epoch);
    await until(() => linkTree(join(folder, '.halogrid'), join(files, '.halogrid'), isOfPart));
    await until(() => writeFileAtomically(join(files, 'job.json'), jobJson));
  }
  await confirm();
  await until(() => publishToBucket(out, jobId, epoch));
  await removeScratch(out);
}

/** A share has no tables. */
export const noTables: TablesOutput = {
  start() {},
  advance() {},
  finish: async () => [],
  abort: async () => {},
};
