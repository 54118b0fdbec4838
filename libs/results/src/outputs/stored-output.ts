import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isLeftOver } from '../folder/claim-file.ts';
import type { HostProcess } from './is-process-alive.ts';
import { removedName } from './output-entries.ts';

/** The folder of a job, as its job.json describes it. */
export interface StoredOutput {
  path: string;
  jobId: string;
  /** As in job.json; `removed` if a removal was interrupted. */
  state: 'running' | 'complete' | 'failed' | 'cancelled' | 'planned' | 'part' | 'removed';
  /** Whose job it is; absent if its version did not say. */
  owner?: string;
  /** It may go on from what is in its scratch folder. */
  isUnfinished: boolean;
  /** The process that runs it, or did when it was interrupted. */
  coordinator?: HostProcess;
  /** When it ended, or when an unfinished one was last written to; milliseconds since 1970. */
  changedMs: number;
}

interface Written {
  id: string;
  state: Exclude<StoredOutput['state'], 'removed'>;
  specification: object;
  owner?: unknown;
  canGoOn?: boolean;
  coordinator?: HostProcess;
  finished?: string;
}

/**
 * The job of a folder; undefined if the folder has no job.json of halogrid. Rejects with the error of the system if
 * that cannot be read.
 */
export async function readOutput(path: string): Promise<StoredOutput | undefined> {
  for (const { name, of } of await claimsOf(path)) {
    const text = await textOf(join(path, name));
    const job = text === undefined ? undefined : parseJob(text);
    if (!job) continue;
    const { id, state, owner, canGoOn, coordinator, finished } = job;
    const isUnfinished = of === 'taken' || (of === 'job' && (state === 'running' || canGoOn === true));
    return {
      path,
      jobId: id,
      state: of === 'removal' ? 'removed' : state,
      ...(typeof owner === 'string' && owner !== '' && { owner }),
      isUnfinished,
      ...(coordinator && { coordinator }),
      changedMs: isUnfinished ? await lastChange(path) : Date.parse(finished ?? '') || (await lastChange(path)),
    };
  }
  return undefined;
}

/** Files of the folder that may name its job: job.json, or what an interrupted removal or claim has made of it. */
async function claimsOf(path: string): Promise<{ name: string; of: 'job' | 'removal' | 'taken' }[]> {
  const names = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  const taken = names.filter((name) => isLeftOver(name) && name.startsWith('.job.json.'));
  return [
    { name: 'job.json', of: 'job' },
    { name: removedName, of: 'removal' },
    ...taken.map((name) => ({ name, of: 'taken' }) as const),
  ];
}

/** The job in the text of a job.json; undefined if it is not of halogrid. */
export function parseJob(text: string): Written | undefined {
  try {
    const job = JSON.parse(text) as Partial<Written> | null;
    return job?.id && job.state && job.specification ? (job as Written) : undefined;
  } catch {
    return undefined;
  }
}

/** Undefined if there is no such file. */
async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
}

/** When an entry of the folder, or of its scratch folder, was last written; in milliseconds since 1970. */
async function lastChange(path: string): Promise<number> {
  let lastMs = 0;
  for (const folder of [path, join(path, '.halogrid')]) {
    for (const name of await readdir(folder).catch((): string[] => [])) {
      lastMs = Math.max(lastMs, (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0);
    }
  }
  return lastMs;
}
