import type { checkSources } from '@halogrid/jobs/check-sources';
import { checkSpec } from '@halogrid/jobs/check-spec';
import { completeSubmit } from '@halogrid/jobs/complete-submit';
import { placesOf } from '@halogrid/jobs/output-paths';
import { Refusal } from '@halogrid/jobs/refusal';
import type { JobSpec, SubmitRequest } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import { type ClaimContext, claimOutputFolder, releaseOutputFolder } from '../output/output-folder.ts';
import { withAllBands } from '../plan/with-all-bands.ts';
import type { JobDriver } from './job-driver.ts';

/** The most jobs that have not ended: each has a plan under way, which takes a few megabytes. */
export const maxOpenJobs = 1_000;
/** Resumes an unfinished job of that specification and returns its id; undefined if there is none. */
export type ResumeJob = (spec: JobSpec, nameOutByJob: boolean) => Promise<string | undefined>;

/** What is asked of `submitJob`, and by whom. */
export interface SubmittedJob {
  request: SubmitRequest;
  /** Whose job it is; absent if nobody was asked. */
  owner?: string | undefined;
}

/**
 * Checks the specification, claims the output folder and has the job run; returns its id. If `resume` finds the same
 * job unfinished, that job goes on instead. Throws Refusal ('unmet' if the output folder is not available); then
 * nothing is left behind. `check` is as in checkSpec. `signal` aborts when the caller is gone: then no job is left,
 * because the caller would not learn of it. `context` is as in claimOutputFolder.
 */
export async function submitJob(
  jobs: Pick<JobDriver, 'openJobs' | 'submit' | 'cancel'>,
  createId: () => string,
  { request, owner }: SubmittedJob,
  resume: ResumeJob = async () => undefined,
  check?: typeof checkSources,
  signal?: AbortSignal,
  context?: ClaimContext,
): Promise<string> {
  if (jobs.openJobs >= maxOpenJobs) {
    throw new Refusal('exhausted', `${maxOpenJobs} jobs run or wait already: wait until one has ended, or cancel one`);
  }
  const { spec: asked, nameOutByJob } = completeSubmit(request);
  const whole = await withAllBands(asked, (spec) => checkSpec(spec, check, signal));
  const { spec: given, pipeline } = await checkSpec(whole, check, signal);
  signal?.throwIfAborted();
  const resumed = await resume(given, nameOutByJob).catch(refuseUsage);
  if (resumed !== undefined) return resumed;
  const jobId = createId();
  const spec = nameOutByJob ? { ...given, out: `${given.out.replace(/\/+$/, '')}/${jobId}` } : given;
  await claimOutputFolder(spec.out, { jobId, spec, owner }, context).catch(refuseUsage);
  try {
    await jobs.submit({ jobId, spec, pipeline, ...placesOf({ jobId, spec }, context?.isShared === true), owner });
  } catch (error) {
    releaseOutputFolder(spec.out);
    throw error;
  }
  // The caller is gone and does not learn of the job.
  if (signal?.aborted) await jobs.cancel(jobId);
  return jobId;
}

function refuseUsage(error: unknown): never {
  throw error instanceof UsageError ? new Refusal('unmet', error.sentence, 'out') : error;
}
