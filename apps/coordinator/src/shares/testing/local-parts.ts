// For tests: makes and merges parts of a job in this process, as runs and `halogrid merge` do.
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { jobPipeline } from '@halogrid/jobs/accepted-job';
import { scratchUri } from '@halogrid/jobs/output-paths';
import { FolderLogs } from '@halogrid/ledger';
import type { JobSpec, JobStatus } from '@halogrid/proto';
import { systemClock } from '@halogrid/service/clock';
import { createLog } from '@halogrid/service/log';
import type { TestS3 } from '@halogrid/sources/testing-servers';
import { createFolderHome, createFolderLedger } from '../../dispatch/open-ledger.ts';
import { findUnfinished, releaseOutputFolder } from '../../output/output-folder.ts';
import { planJob } from '../../plan/planner.ts';
import { runWith } from '../../testing/local-job.ts';
import { mergeShares } from '../merge-shares.ts';
import { PlanRecorder } from '../plan-recorder.ts';

const context = { clock: systemClock, log: createLog('test', 'silent'), lost: () => {} };

/** Runs a share, or goes on with it; resolves, and takes `dieAfter`, as runLocalJob. */
export async function runPart(jobId: string, spec: JobSpec, dieAfter?: number): Promise<string[]> {
  const ledger = createFolderLedger(context);
  try {
    const unfinished = await findUnfinished(spec);
    const job = { jobId: unfinished?.jobId ?? jobId, spec };
    if (unfinished) await ledger.loadFolder(createFolderHome(context), job);
    return await runWith(ledger, job, dieAfter);
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

/** Copies a folder to the bucket as other programs do, with all that is below it; a missing folder is nothing. */
export async function copyToBucket({ objects }: TestS3, folder: string, prefix: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) objects.set(`${prefix}/${relative(folder, path)}`, await readFile(path));
  }
}

/** The file of the first log of a folder. */
export const logOf = (out: string): string => new FolderLogs(fileURLToPath(scratchUri(out)), '').file(1);
