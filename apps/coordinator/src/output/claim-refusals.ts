import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { earlierJobPath, outputName } from '@halogrid/jobs/output-paths';
import { named, sentence } from '@halogrid/proto/sentence';
import { isSystemError, type SystemError, UsageError, whyNotWritten } from '@halogrid/service';
import { InputError, TransferError } from '@halogrid/sources';
import type { JobClaim } from './job-claim.ts';
import { type Difference, describeDifferences } from './spec-differences.ts';

// Why a job does not get an output folder.

/** A job may not take the folder of another job. `untouched`: the job whose output is in it, as of before. */
export function otherJob(
  path: string,
  { id }: JobClaim,
  differences: readonly Difference[],
  untouched: JobClaim | undefined,
): UsageError {
  const what = differences.length > 0 ? describeDifferences(differences) : 'its specification is another';
  if (untouched) {
    const mv = `mv '${earlierJobPath(pathToFileURL(path).href)}' '${join(path, 'job.json')}'`;
    return new UsageError(
      sentence`The output folder '${outputName(path)}' holds the results of job ${untouched.id}, and job ${id}, which was to follow it, was left half-way: ${what}. Ask for the same as job ${id}, which then goes on; give another ${named('out')}; or give up what job ${id} has done (${mv})`,
    );
  }
  return new UsageError(
    sentence`The output folder '${outputName(path)}' holds the results of another job (${id}): ${what}. Ask for the same as then, give another ${named('out')}, or remove the folder`,
  );
}

export const inUse = (path: string, { id, coordinator }: JobClaim): UsageError =>
  new UsageError(
    `The output folder '${outputName(path)}' is in use by job ${id}, which process ${coordinator?.pid} still runs: wait for its end`,
  );

export const takenJustNow = (path: string): UsageError =>
  new UsageError(`The output folder '${outputName(path)}' was taken by another job just now`);

/** The refusal for an error of the disk or of the bucket; any other error as it is. */
export function refusalOf(path: string, error: unknown): unknown {
  if (error instanceof UsageError) return error;
  if (error instanceof TransferError || error instanceof InputError) {
    return new UsageError(
      sentence`The output '${outputName(path)}' cannot be written: ${error.message}; give another ${named('out')}, or see to the bucket and its credentials`,
      { cause: error },
    );
  }
  return isSystemError(error) ? notWritable(path, error) : error;
}

const notWritable = (path: string, error: SystemError): UsageError =>
  new UsageError(
    sentence`The output folder '${path}' cannot be written: ${whyNotWritten(error)}; give another ${named('out')}, or change the rights of the folder`,
    { cause: error },
  );
