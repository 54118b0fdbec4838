import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { scratchUri } from '@halogrid/jobs/output-paths';
import { FolderLogs, isLogName, LogReader } from '@halogrid/ledger';
import { linkTree } from '@halogrid/results/link-tree';
import { isSystemError, UsageError } from '@halogrid/service';
import { resultsVersion, softwareVersion } from '@halogrid/service/version';
import { BucketPrefix, InputError, isBucketUri, TransferError } from '@halogrid/sources';
import { bringLogged, hasLogs } from './bucket/bring-logged.ts';
import { isOfPart } from './finish-logged.ts';
import { type JobClaim, parseClaim } from './job-claim.ts';

// Plans and parts, in folders and in buckets; `at` is a path or an s3: URI.

/** The job.json of a plan, or of a part of an output. */
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
 * Reads the job.json of a plan or part. Throws UsageError, with a sentence that says what is there instead, also if
 * another version of halogrid wrote it.
 */
export async function readLoggedClaim(at: string, state: LoggedClaim['state']): Promise<LoggedClaim> {
  const { what, remedy } = sought[state];
  const claim = await readClaim(at);
  if (!claim) throw new UsageError(`Expected ${what} but '${at}' has no job.json of halogrid: ${remedy}`);
  if (claim.state !== state) {
    const why = claim.error ? ` (${claim.error})` : '';
    throw new UsageError(`Expected ${what} but the job in '${at}' ${saysOf(claim)}${why}`);
  }
  const logged = claim as LoggedClaim;
  if (logged.version !== softwareVersion || logged.resultsVersion !== resultsVersion) {
    throw new UsageError(
      `'${at}' was made by halogrid ${logged.version} with results version ${logged.resultsVersion}, this is ` +
        `${softwareVersion} with ${resultsVersion}: make it again, or use that version`,
    );
  }
  return logged;
}

/** A log that can be read until it is closed. */
export interface OpenLog {
  log: LogReader;
  /** Removes what was brought of a bucket. */
  close(): Promise<void>;
}

/** Opens the log of a plan or part. Throws UsageError if the log is missing or damaged. */
export async function openLog(at: string, claim: LoggedClaim): Promise<OpenLog> {
  const brought = isBucketUri(at) ? await mkdtemp(join(tmpdir(), 'halogrid-log-')) : undefined;
  const close = async (): Promise<void> => {
    if (brought !== undefined) await rm(brought, { recursive: true, force: true });
  };
  try {
    const log = await reading(at, async () => {
      if (brought !== undefined) await bringLogged(new BucketPrefix(at), 'logs', brought);
      return LogReader.open(new FolderLogs(brought ?? scratchOf(at), claim.id), claim.specification);
    });
    if (!log?.planned) throw noLog(at);
    return { log, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens the log of a plan or part for `read`, and closes it also if `read` fails. Rejects as openLog. */
export async function withLog<Read>(
  { at, claim }: { at: string; claim: LoggedClaim },
  read: (log: LogReader) => Read | Promise<Read>,
): Promise<Read> {
  const { log, close } = await openLog(at, claim);
  try {
    return await read(log);
  } finally {
    await close();
  }
}

/** Throws UsageError if the log of a plan or part is missing; reads only its end, and nothing of it in a bucket. */
export async function checkLog(at: string, { id }: LoggedClaim): Promise<void> {
  const isThere = await reading(at, () =>
    isBucketUri(at) ? hasLogs(new BucketPrefix(at)) : LogReader.isThere(new FolderLogs(scratchOf(at), id)),
  );
  if (!isThere) throw noLog(at);
}

/**
 * Gives the results of a part a second name in a folder, or brings them there from a bucket. Rejects with UsageError if
 * the bucket cannot be read, and with the system's error if the folder cannot be written.
 */
export async function takeResults(at: string, folder: string, signal: AbortSignal): Promise<void> {
  if (isBucketUri(at)) {
    await bringLogged(new BucketPrefix(at), 'results', folder, signal).catch((error: Error) => {
      const isOfBucket = error instanceof TransferError || error instanceof InputError;
      // Without its cause: nobody shall wait for the output because a part is away.
      throw isOfBucket ? new UsageError(`'${at}' cannot be read: ${error.message}`) : error;
    });
  } else await linkTree(scratchOf(at), folder, (name) => isOfPart(name) && !isLogName(name));
}

const scratchOf = (folder: string): string => fileURLToPath(scratchUri(pathToFileURL(folder).href));

const noLog = (at: string): UsageError =>
  new UsageError(`'${at}' lacks the log in .halogrid that its job wrote: copy the whole folder`);

async function reading<Read>(at: string, read: () => Promise<Read>): Promise<Read> {
  try {
    return await read();
  } catch (error) {
    throw new UsageError(`'${at}' cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

async function readClaim(at: string): Promise<JobClaim | undefined> {
  const text = await reading(at, () => (isBucketUri(at) ? textOfObject(at) : textOfFile(join(at, 'job.json'))));
  return parseClaim(text ?? 'null');
}

const textOfObject = async (at: string): Promise<string | undefined> =>
  (await new BucketPrefix(at).get('job.json'))?.toString();

const textOfFile = (path: string): Promise<string | undefined> =>
  readFile(path, 'utf8').catch((error) => {
    if (isSystemError(error) && error.code === 'ENOENT') return undefined;
    throw error;
  });

function saysOf({ state, specification: { share } }: JobClaim): string {
  if (state === 'part') return `is part ${share?.number} of ${share?.of}`;
  if (state === 'failed') return 'has failed';
  if (state === 'cancelled') return 'was cancelled';
  return state === 'planned' ? 'is only planned' : `is ${state}`;
}
