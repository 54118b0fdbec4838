// For tests: makes and merges parts of a job in this process, as runs and `halogrid merge` do.
import { fileURLToPath } from 'node:url';
import { jobPipeline } from '@halogrid/jobs/accepted-job';
import { scratchUri } from '@halogrid/jobs/output-paths';
import { FolderLogs } from '@halogrid/ledger';
import type { JobSpec, JobStatus } from '@halogrid/proto';
import { systemClock } from '@halogrid/service/clock';
import { createLog } from '@halogrid/service/log';
import { createFolderHome, createFolderLedger } from '../../dispatch/open-ledger.ts';
import { findUnfinished, releaseOutputFolder } from '../../output/output-folder.ts';
import { planJob } from '../../plan/planner.ts';
import { runWith } from '../../testing/local-job.ts';
import { mergeShares } from '../merge-shares.ts';
import { PlanRecorder } from '../plan-recorder.ts';

const context = { clock: systemClock, log: createLog('test', 'silent'), lost: () => {} };

/** Runs a share, or goes on with it; with `dieAfter` as runLocalJob. */
export async function runPart(jobId: string, spec: JobSpec, dieAfter?: number): Promise<void> {
  const ledger = createFolderLedger(context);
  try {
    const unfinished = await findUnfinished(spec);
    if (unfinished) await ledger.loadFolder(createFolderHome(context), { jobId, spec });
    await runWith(ledger, { jobId, spec }, dieAfter);
  } finally {
    releaseOutputFolder(spec.out);
    await ledger.close();
  }
}

/** Writes the plan of a job to `spec.out`. */
export async function writePlan(spec: JobSpec): Promise<void> {
  const recorder = new PlanRecorder(context);
  await Array.fromAsync(recorder.record(spec, planJob(spec, jobPipeline(spec))));
  await recorder.finish();
}

export const merge = (folders: readonly string[], out: string): Promise<JobStatus> =>
  mergeShares(folders, out, context, new AbortController().signal);

/** The file of the first log of a folder. */
export const logOf = (out: string): string => new FolderLogs(fileURLToPath(scratchUri(out)), '').file(1);
