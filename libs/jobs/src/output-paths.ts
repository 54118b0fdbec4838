import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { UsageError } from '@halogrid/service/usage-error';

// Paths of an output folder. They are here because the ledger and the output both keep files there.

/** The folder of an output URI. Throws UsageError unless it is a file URI. */
export function outputPath(out: string): string {
  try {
    return resolve(fileURLToPath(out));
  } catch {
    throw new UsageError(`Expected a file: URI of a folder for the output but received '${out}'`);
  }
}

/** URI of the output folder of the pipeline `name`. */
export const partOut = (out: string, name: string): string => `${out.replace(/\/+$/, '')}/pipelines/${name}`;

/** URI of the folder for unfinished results. It is inside the output folder, so both are on the same file system. */
export function scratchUri(out: string): string {
  return pathToFileURL(join(outputPath(out), '.halogrid')).href;
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
