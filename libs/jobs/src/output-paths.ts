import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { UsageError } from '@halogrid/service/usage-error';

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

/** URI of the folder for unfinished results, inside the output folder so that finished ones never cross a file system. */
export function scratchUri(out: string): string {
  return pathToFileURL(join(outputPath(out), '.halogrid')).href;
}

/** URI of the folder for unfinished results of the pipeline of that name; of the only one, which has none, that of all. */
export const partScratchUri = (out: string, name: string): string =>
  name === '' ? scratchUri(out) : `${scratchUri(out)}/pipelines/${name}`;

/** The ledger of a job that an earlier version kept by itself, for as long as it ran. */
export function ledgerPath(out: string): string {
  return join(outputPath(out), '.halogrid', 'ledger.sqlite');
}

/** Where the output of a job is put together, until all of it is there; with a name that of its pipeline of that name. */
export function newOutputPath(out: string, name = ''): string {
  return join(outputPath(out), '.halogrid', 'output', ...(name === '' ? [] : ['pipelines', name]));
}

/** The job.json of the complete job whose output stays in the folder until the job that runs there is complete as well. */
export function earlierJobPath(out: string): string {
  return join(outputPath(out), '.halogrid', 'earlier.json');
}

/** Where a table of the pipeline of that name, `features.parquet`, grows until it is whole. */
export function unfinishedTablePath(out: string, file: string, name = ''): string {
  return join(outputPath(out), '.halogrid', name === '' ? file : `${name}-${file}`);
}
