import { createReadStream } from 'node:fs';
import { open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/**
 * Folders in which single entries of the old output may stay, in the output folder and in the folder of each pipeline.
 */
const pictureFolders = ['maps', 'preview'];

/** Folders that the new output replaces as a whole. */
const replacedFolders = [...pictureFolders, 'pipelines'];

/**
 * The moves by which an output replaces another, one a line of the file: an entry of the old output is moved to its
 * place in the new one, or removed. Paths are relative to the output folder, or to the folder of the new output.
 */
export type Move = { keep: string; as: string } | { remove: string };

/** Where the list of moves is kept. */
export const movesPath = (folder: string): string => join(folder, '.halogrid', 'moves.jsonl');

const newPath = (folder: string): string => join(folder, '.halogrid', 'output');

/** Where entries of the old output go that were in a replaced folder. */
const asidePath = (folder: string, name: string): string => join(folder, '.halogrid', `earlier-${name}`);

/** Whether a new output is complete, with its job.json, and may replace the content of the folder. */
export function isReady(folder: string): Promise<boolean> {
  return exists(join(newPath(folder), 'job.json'));
}

/**
 * Moves the new output into place, job.json last. May be interrupted at any point, and is then repeated from the start:
 * entries that were moved before are skipped.
 */
export async function publishOutput(folder: string): Promise<void> {
  for (const name of replacedFolders) {
    if (!(await exists(join(newPath(folder), name)))) continue;
    await rename(join(folder, name), asidePath(folder, name)).catch(unlessMissing);
  }
  for await (const move of readMoves(folder)) {
    if ('remove' in move) await rm(join(folder, move.remove), { recursive: true, force: true, maxRetries: 3 });
    else {
      const [replaced, ...name] = move.keep.split('/') as [string, ...string[]];
      await rename(join(asidePath(folder, replaced), ...name), join(newPath(folder), move.as)).catch(unlessMissing);
    }
  }
  await settlePictures(newPath(folder));
  const parts = join(newPath(folder), 'pipelines');
  if (await exists(parts)) {
    for (const name of await readdir(parts)) await settlePictures(join(parts, name));
    await syncFolder(parts);
  }
  for (const entry of await readdir(newPath(folder))) {
    if (entry !== 'job.json') await replaceEntry(folder, entry);
  }
  await syncFolder(folder);
  await rename(join(newPath(folder), 'job.json'), join(folder, 'job.json'));
  await syncFolder(folder);
}

/**
 * Moves an entry of the new output over that of the old one. Where one is a folder and the other is not, the old one
 * goes aside first.
 */
async function replaceEntry(folder: string, entry: string): Promise<void> {
  const [from, to] = [join(newPath(folder), entry), join(folder, entry)];
  await rename(from, to).catch(async (error: NodeJS.ErrnoException) => {
    if (!['EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST'].includes(error.code!)) throw error;
    await rename(to, asidePath(folder, entry));
    await rename(from, to);
  });
}

async function* readMoves(folder: string): AsyncGenerator<Move> {
  if (!(await exists(movesPath(folder)))) return;
  for await (const line of createInterface({ input: createReadStream(movesPath(folder)) })) yield JSON.parse(line);
}

/** Syncs the folders of pictures that got new entries. */
async function settlePictures(output: string): Promise<void> {
  for (const pictures of pictureFolders) {
    const path = join(output, pictures);
    if ((await exists(path)) && !(await isRemoved(path))) await syncFolder(path);
  }
}

/** Removes a folder, if it is empty. */
const isRemoved = (path: string): Promise<boolean> =>
  rmdir(path).then(
    () => true,
    () => false,
  );

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function unlessMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}

export const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );
