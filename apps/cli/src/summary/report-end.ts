import { JobState, type JobStatus } from '@halogrid/proto';
import { exitCodeOfJob } from '../process/exit-code.ts';
import { describeNotices, describeSummary } from './describe-summary.ts';
import { summarise } from './job-summary.ts';

/** Prints what became of an ended job and gives the exit code. Throws one sentence where it failed. */
export async function reportEnd(job: JobStatus, asJson: boolean): Promise<number> {
  const summary = await summarise(job);
  for (const line of describeNotices(summary)) process.stderr.write(`${line}\n`);
  if (asJson) process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
  if (job.state === JobState.FAILED) throw new Error(`Job ${job.jobId} failed: ${job.error}`);
  if (job.state === JobState.CANCELLED) throw new Error(`Job ${job.jobId} was cancelled`);
  if (!asJson) process.stdout.write(describeSummary(summary, process.cwd()));
  return exitCodeOfJob(job);
}
