import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { jobPipeline } from '@halogrid/jobs/accepted-job';
import { lackOf } from '@halogrid/jobs/output-lack';
import { ledgerPath, outputPath, scratchUri } from '@halogrid/jobs/output-paths';
import { type LogLedger, OlderLedgerError, openRegistry, registryFormat } from '@halogrid/ledger';
import type { JobSpec } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import { findUnfinished, hasOwnLedger, releaseOutputFolder, resumeOutputFolder } from '../output/output-folder.ts';
import type { JobDriver } from './job-driver.ts';
import { createFolderHome, type LedgerContext } from './open-ledger.ts';

export interface FolderResume extends LedgerContext {
  ledger: LogLedger;
  jobs: JobDriver;
}

/** A job that was left half-way in its output folder. */
export interface HalfWayJob {
  jobId: string;
  spec: JobSpec;
}

/**
 * Goes on with the job of this specification that was left half-way in its output folder, by calling `goOn`, which
 * returns false if that is impossible. With `nameOutByJob`, the folders named by job ids in `spec.out` are tried, the
 * newest first. Returns the id of the job, undefined if there is none. Throws UsageError if the job cannot go on.
 */
export async function resumeHalfWay(
  spec: JobSpec,
  nameOutByJob: boolean,
  goOn: (job: HalfWayJob) => Promise<boolean>,
): Promise<string | undefined> {
  for (const out of nameOutByJob ? await foldersIn(spec.out) : [spec.out]) {
    const there = { ...spec, out };
    // A folder with a job that still runs is passed over: another job may begin in a folder of its own.
    const found = await findUnfinished(there).catch((error) => {
      if (nameOutByJob && error instanceof UsageError) return undefined;
      throw error;
    });
    if (found && (await goOn({ ...found, spec: there }))) return found.jobId;
  }
  return undefined;
}

/** Goes on from the logs in the folder. Returns false if there are no logs, or if they do not have the job yet. */
export async function resumeInFolder(job: HalfWayJob, context: FolderResume): Promise<boolean> {
  const { jobId, spec } = job;
  if (!(await hasOwnLedger(spec.out))) {
    const left = `Job ${jobId} in '${outputPath(spec.out)}' was left half-way without a log`;
    context.log.warn({ notice: true }, `${left}: nothing that was computed of it counts`);
    return false;
  }
  // This comes first: if several processes get here, only the one that claims the folder may lead the job in it.
  await resumeOutputFolder(spec.out, job);
  try {
    await refuseOlderLedger(spec.out);
    const home = createFolderHome(context);
    const torn = (epoch: number, offset: number): void =>
      context.log.warn(
        { jobId },
        `The log of epoch ${epoch} ends in a group that is not whole, at byte ${offset}: it does not count`,
      );
    const record = await context.ledger.loadFolder(home, job, torn);
    if (record) {
      const { owner } = record;
      const pipeline = jobPipeline(spec);
      await context.jobs.resume({ jobId, spec, pipeline, scratch: scratchUri(spec.out), owner });
      return true;
    }
    await home.leave?.();
  } catch (error) {
    releaseOutputFolder(spec.out);
    const path = outputPath(spec.out);
    if (error instanceof OlderLedgerError) {
      throw new UsageError(
        `Job ${jobId} in '${path}' was left half-way by an older version (ledger format ${error.format}, this is ` +
          `${registryFormat}): finish it with that version, or remove '${path}' to start again`,
      );
    }
    const why = error instanceof Error ? error.message : String(error);
    const remedy = lackOf(error) ? 'see to the folder, and run the same command again' : 'remove it to start again';
    throw new UsageError(`Job ${jobId} in '${path}' cannot go on (${why}); ${remedy}`);
  }
  releaseOutputFolder(spec.out);
  return false;
}

/** Earlier versions kept a job in a database in its folder. Rejects with OlderLedgerError if there is one. */
async function refuseOlderLedger(out: string): Promise<void> {
  const path = ledgerPath(out);
  if (!existsSync(path)) return;
  const registry = await openRegistry(path);
  await registry.close();
}

/** The folders in `out`, the newest first: ids of jobs begin with their time. */
async function foldersIn(out: string): Promise<string[]> {
  const entries = await readdir(outputPath(out), { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return names
    .sort()
    .reverse()
    .map((name) => `${out.replace(/\/+$/, '')}/${name}`);
}
