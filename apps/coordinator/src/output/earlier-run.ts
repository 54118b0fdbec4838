import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { outputPath } from '@halogrid/jobs/output-paths';
import { JobSpec } from '@halogrid/proto';
import { resultsVersion } from '@halogrid/service/version';
import { isSameJob, type JobClaim } from './job-claim.ts';

/**
 * The most folders that are read, the newest first, and the most bytes of a job.json: more would cause a noticeable
 * delay.
 */
const mostFolders = 10;
const mostBytes = 2 ** 20;

/**
 * A folder next to the job's, also named by a job id, with complete results of the same specification except for the
 * folder; undefined if the newest few have none.
 */
export async function findEarlierRun(spec: JobSpec, jobId: string): Promise<string | undefined> {
  const beside = dirname(outputPath(spec.out));
  const names = (await readdir(beside).catch(() => [])).filter((name) => /^\d{8}-\d{6}-/.test(name) && name !== jobId);
  for (const name of names.sort().reverse().slice(0, mostFolders)) {
    const folder = join(beside, name);
    const claim = await readSmall(join(folder, 'job.json'));
    const isOf = claim?.state === 'complete' && claim.id === name && claim.resultsVersion === resultsVersion;
    if (
      isOf &&
      isSameJob(
        { ...claim, specification: asSent(claim.specification) },
        { ...asSent(spec), out: claim.specification.out },
      )
    )
      return folder;
  }
  return undefined;
}

/** Adds empty lists, which messages have and files lack. */
const asSent = (spec: JobSpec): JobSpec => JSON.parse(JSON.stringify(JobSpec.fromPartial(spec)));

async function readSmall(path: string): Promise<(JobClaim & { resultsVersion?: number }) | undefined> {
  try {
    return (await stat(path)).size <= mostBytes ? JSON.parse(await readFile(path, 'utf8')) : undefined;
  } catch {
    return undefined;
  }
}
