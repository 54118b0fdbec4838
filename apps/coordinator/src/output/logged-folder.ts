import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { scratchUri } from '@halogrid/jobs/output-paths';
import { FolderLogs, LogReader } from '@halogrid/ledger';
import { isSystemError, UsageError } from '@halogrid/service';
import { resultsVersion, softwareVersion } from '@halogrid/service/version';
import type { JobClaim } from './job-claim.ts';

/** The job.json of a folder that holds a plan, or a part of an output. */
export interface LoggedClaim extends JobClaim {
  state: 'planned' | 'part';
  version: string;
  resultsVersion: number;
  /** As planDigest. */
  plan: string;
}

const sought = {
  planned: { what: 'a plan', remedy: 'halogrid plan … --write makes one' },
  part: { what: 'a part of an output', remedy: 'halogrid run … --part makes one' },
};

/**
 * Reads the job.json of a folder whose job has ended in that state. Throws UsageError, with a sentence that says what
 * the folder has instead, also if another version of halogrid wrote it.
 */
export async function readLoggedClaim(folder: string, state: LoggedClaim['state']): Promise<LoggedClaim> {
  const { what, remedy } = sought[state];
  const claim = await readClaim(folder);
  if (!claim) throw new UsageError(`Expected ${what} but '${folder}' has no job.json of halogrid: ${remedy}`);
  if (claim.state !== state) {
    const why = claim.error ? ` (${claim.error})` : '';
    throw new UsageError(`Expected ${what} but the job in '${folder}' ${saysOf(claim)}${why}`);
  }
  const logged = claim as LoggedClaim;
  if (logged.version !== softwareVersion || logged.resultsVersion !== resultsVersion) {
    throw new UsageError(
      `'${folder}' was made by halogrid ${logged.version} with results version ${logged.resultsVersion}, this is ` +
        `${softwareVersion} with ${resultsVersion}: make it again, or use that version`,
    );
  }
  return logged;
}

/** Reads the log of the folder's job. Throws UsageError if the log is missing or damaged. */
export async function readFolderLog(folder: string, claim: LoggedClaim): Promise<LogReader> {
  const log = await reading(folder, () => LogReader.open(logsOf(folder, claim), claim.specification));
  if (!log?.planned) throw noLog(folder);
  return log;
}

/** Throws UsageError if the log of the folder's job is missing; reads only its end. */
export async function checkFolderLog(folder: string, claim: LoggedClaim): Promise<void> {
  if (!(await reading(folder, () => LogReader.isThere(logsOf(folder, claim))))) throw noLog(folder);
}

const logsOf = (folder: string, { id }: LoggedClaim): FolderLogs =>
  new FolderLogs(fileURLToPath(scratchUri(pathToFileURL(folder).href)), id);

const noLog = (folder: string): UsageError =>
  new UsageError(`'${folder}' lacks the log in .halogrid that its job wrote: copy the whole folder`);

async function reading<Read>(folder: string, read: () => Promise<Read>): Promise<Read> {
  try {
    return await read();
  } catch (error) {
    throw new UsageError(`'${folder}' cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

async function readClaim(folder: string): Promise<JobClaim | undefined> {
  try {
    const claim = JSON.parse(await readFile(join(folder, 'job.json'), 'utf8')) as JobClaim;
    return claim?.id && claim.state && claim.specification ? claim : undefined;
  } catch (error) {
    if (!isSystemError(error) || error.code === 'ENOENT') return undefined;
    throw new UsageError(`'${folder}' cannot be read: ${error.message}`);
  }
}

function saysOf({ state, specification: { share } }: JobClaim): string {
  if (state === 'part') return `is part ${share?.number} of ${share?.of}`;
  if (state === 'failed') return 'has failed';
  if (state === 'cancelled') return 'was cancelled';
  return state === 'planned' ? 'is only planned' : `is ${state}`;
}
