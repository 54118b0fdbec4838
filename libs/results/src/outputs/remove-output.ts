import { rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { restoreClaim, setClaimAside } from '../folder/claim-file.ts';
import { removedName } from './output-entries.ts';
import { type OutputSize, walkOutput } from './own-files.ts';
import { parseJob, type StoredOutput } from './stored-output.ts';

/** What became of an output. */
export interface RemovedOutput extends OutputSize {
  /** Names of entries that somebody else has put into the folder. They stay, and so does the folder. */
  stays: string[];
}

/**
 * Removes the files of a job, and its folder unless something else is in it. Its job.json goes first, so that nobody
 * takes a part of the output for the whole, and no job can begin in the folder until it is empty. If the removal is
 * interrupted, the next one goes on. Rejects if another job has the folder by now, or a file cannot be removed.
 */
export async function removeOutput({ path, jobId, state }: StoredOutput): Promise<RemovedOutput> {
  const mark = join(path, removedName);
  if (state !== 'removed') await restoreClaim(path);
  if (state !== 'removed' && !(await setClaimAside(path, mark, (text) => isSame(text, jobId, state)))) {
    throw new Error(`The folder '${path}' was taken by another job just now`);
  }
  const removed: RemovedOutput = { files: 0, bytes: 0, stays: [] };
  for await (const { name, kind, bytes, isOwn } of walkOutput(path)) {
    if (name === removedName) {
      removed.files++;
      removed.bytes += bytes;
    } else if (!isOwn) removed.stays.push(name);
    // A folder with entries of somebody else stays.
    else if (kind === 'folder') await rmdir(join(path, name)).catch(unlessNotEmpty);
    else {
      await rm(join(path, name), { force: true });
      removed.files++;
      removed.bytes += bytes;
    }
  }
  await rm(mark, { force: true });
  await rmdir(path).catch(unlessNotEmpty);
  return removed;
}

function isSame(text: string, jobId: string, state: StoredOutput['state']): boolean {
  const job = parseJob(text);
  return job?.id === jobId && job.state === state;
}

/** A mount point cannot be removed either, nor the working folder of some systems. */
function unlessNotEmpty(error: NodeJS.ErrnoException): void {
  if (!['ENOTEMPTY', 'EEXIST', 'ENOENT', 'EBUSY'].includes(error.code!)) throw error;
}
