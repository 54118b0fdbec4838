import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { dataFolder } from '@halogrid/service/data-folder';
import { UsageError } from '@halogrid/service/usage-error';
import { isBucketUri, toPrefixUri } from '@halogrid/sources/prefix-uri';

// Paths of an output folder. They are here because the ledger and the output both keep files there.

/**
 * The folder on this machine that has a folder for each output in a bucket, while its job runs. It lasts, because a job
 * goes on with what is there. Undefined for a user without a home.
 */
export function bucketsScratch(env: NodeJS.ProcessEnv): string | undefined {
  if (env.HALOGRID_SCRATCH) return resolve(env.HALOGRID_SCRATCH, 's3');
  const data = dataFolder(env);
  return data && join(data, 'scratch', 's3');
}

/**
 * The folder of an output URI: for an output in a bucket, the folder on this machine in which it is put together.
 * Throws UsageError unless it is a file: or s3: URI.
 */
export function outputPath(out: string): string {
  if (isBucketUri(out)) {
    const scratch = bucketsScratch(process.env);
    if (!scratch) throw new UsageError('Expected --scratch or HALOGRID_SCRATCH: this user has no home for scratch');
    const names = toPrefixUri(out).slice('s3://'.length).split('/');
    return join(scratch, ...names.map(encodeURIComponent));
  }
  try {
    return resolve(fileURLToPath(out));
  } catch {
    throw new UsageError(`Expected a file: or s3: URI of a folder for the output but received '${out}'`);
  }
}

/** What people call the output in a folder that outputPath gave: the folder, or its place in a bucket. */
export function outputName(path: string): string {
  const scratch = bucketsScratch(process.env);
  if (!scratch || !path.startsWith(`${scratch}/`)) return path;
  const names = path.slice(scratch.length + 1).split('/');
  return `s3://${names.map(decodeURIComponent).join('/')}`;
}

/** URI of the output folder of the pipeline `name`. */
export const partOut = (out: string, name: string): string => `${out.replace(/\/+$/, '')}/pipelines/${name}`;

/** URI of the folder for unfinished results. It is inside the output folder, so both are on the same file system. */
export function scratchUri(out: string): string {
  return pathToFileURL(join(outputPath(out), '.halogrid')).href;
}

/** URI below which the bucket of an output has what a job needs to go on at another coordinator. */
export const objectsUri = (out: string, jobId: string): string => `${toPrefixUri(out)}/.halogrid/jobs/${jobId}`;

/**
 * Where a job keeps its unfinished results. `isShared`: other coordinators may go on with it, perhaps on machines that
 * do not see `scratch`.
 */
export function placesOf(
  { jobId, spec: { out } }: { jobId: string; spec: { out: string } },
  isShared: boolean,
): { scratch: string; objects?: string } {
  const isInBucket = isShared && isBucketUri(out);
  return { scratch: scratchUri(out), ...(isInBucket && { objects: objectsUri(out, jobId) }) };
}

/** URI of the folder for unfinished results of the pipeline `name`. A pipeline without a name has that of the job. */
export const partScratchUri = (out: string, name: string): string =>
  name === '' ? scratchUri(out) : `${scratchUri(out)}/pipelines/${name}`;

/** The ledger that an earlier version kept for each job, as long as the job ran. */
export function ledgerPath(out: string): string {
  return join(outputPath(out), '.halogrid', 'ledger.sqlite');
}

/**
 * The job.json of the earlier, complete job. Its output stays in the folder until the job that now runs there is
 * complete.
 */
export function earlierJobPath(out: string): string {
  return join(outputPath(out), '.halogrid', 'earlier.json');
}

/** The folder in which the leader with this epoch writes the tables of a job until they are complete. */
export const unfinishedTablesPath = (out: string, epoch: number): string =>
  join(outputPath(out), '.halogrid', `tables-${epoch}`);

/** Whether the folder with that name in `.halogrid` is an unfinishedTablesPath. */
export const isUnfinishedTables = (name: string): boolean => /^tables-[0-9]+$/.test(name);
