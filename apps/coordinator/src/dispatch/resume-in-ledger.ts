import { outputPath } from '@halogrid/jobs/output-paths';
import type { LogLedger } from '@halogrid/ledger';
import { UsageError } from '@halogrid/service';
import { abandonJob } from '../output/finalise.ts';
import { releaseOutputFolder, resumeOutputFolder } from '../output/output-folder.ts';
import { type Recovery, recoverJob } from './recover-jobs.ts';
import type { HalfWayJob } from './resume-in-folder.ts';

type LedgerRecovery = Recovery & { ledger: LogLedger };

/**
 * Goes on with a failed job from what the ledger has of it. Returns false if the ledger has no such job, or the job
 * cannot go on. Throws UsageError if another coordinator leads the job.
 */
export async function resumeInLedger({ jobId, spec }: HalfWayJob, recovery: LedgerRecovery): Promise<boolean> {
  const { ledger } = recovery;
  const record = await ledger.getJob(jobId);
  if (!record?.canGoOn) return false;
  if (!ledger.has(jobId)) {
    throw new UsageError(
      `Job ${jobId} in '${outputPath(spec.out)}' can go on, and another coordinator leads it: submit it to that one, or cancel it`,
    );
  }
  if (!(await ledger.goOn(jobId))) return false;
  // Nodes need no time to bring leases along: this coordinator has recalled all of them.
  await recoverJob(recovery, { ...record, spec }, 0);
  return true;
}

/** Cancels a failed job that could go on, and removes its results so far. Returns false if there is no such job. */
export async function cancelEnded({ ledger, clock, isShared }: LedgerRecovery, jobId: string): Promise<boolean> {
  const record = await ledger.getJob(jobId);
  if (!record?.canGoOn || !ledger.has(jobId)) return false;
  const { out } = record.spec;
  try {
    await resumeOutputFolder(out, record, isShared);
    await abandonJob(record, { state: 'cancelled' }, clock.wallMs());
    releaseOutputFolder(out);
  } catch (error) {
    // The folder is gone, or another job has it.
    if (!(error instanceof UsageError)) throw error;
  }
  await ledger.setState(jobId, 'cancelled', { nowMs: clock.wallMs() });
  return true;
}
