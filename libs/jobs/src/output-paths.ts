import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { UsageError } from '@halogrid/service/usage-error';

// Paths of an output folder. They are here because the ledger and the output both keep files there.

/** The folder of an output URI. Throws UsageError where it is no file URI. */
export function outputPath(out: string): string {
  try {
    return resolve(fileURLToPath(out));
  } catch {
    throw new UsageError(`Expected a file: URI of a folder for the output but received '${out}'`);
  }
}

/** URI of the folder that has the output of the pipeline of that name. */
export const partOut = (out: string, name: string): string => `${out.replace(/\/+$/, '')}/pipelines/${name}`;

/**
 * URI of the folder for unfinished results, inside the output folder so that finished ones never cross a file system.
 */
export function scratchUri(out: string): string {
  return pathToFileURL(join(outputPath(out), '.halogrid')).href;
}

/**
 * URI of the folder for unfinished results of the pipeline of that name; of the only one, which has none, that of all.
 */
export const partScratchUri = (out: string, name: string): string =>
  name === '' ? scratchUri(out) : `${scratchUri(out)}/pipelines/${name}`;

/** The ledger of a job that an earlier version kept by itself, for as long as it ran. */
export function ledgerPath(out: string): string {
  return join(outputPath(out), '.halogrid', 'ledger.sqlite');
}

/**
 * The job.json of the complete job whose output stays in the folder until the job that runs there is complete as well.
 */
export function earlierJobPath(out: string): string {
  return join(outputPath(out), '.halogrid', 'earlier.json');
}

/** The folder in which the leader of that epoch lets the tables of a job grow until they are whole. */
export const unfinishedTablesPath = (out: string, epoch: number): string =>
  join(outputPath(out), '.halogrid', `tables-${epoch}`);

/** Whether a file of that name in `.halogrid` is such a folder. */
export const isUnfinishedTables = (name: string): boolean => /^tables-[0-9]+$/.test(name);
