import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/**
 * Folders in which single entries of the old output may stay, in the output folder and in the folder of each pipeline.
 */
const pictureFolders = ['maps', 'preview'];

/** Folders that the new output replaces as a whole. */
const replacedFolders = [...pictureFolders, 'pipelines'];

/**
 * A move by which an output replaces another: an entry of the old output goes to its place in the new one, or is
 * removed. The file has one move per line. Paths are relative to the output folder; `as` to the folder of the new
 * output.
 */
export type Move = { keep: string; as: string } | { remove: string };

/**
 * The name of the folder in which a leader puts the output of a job together. It has the epoch of the leader, so that
 * no two leaders write to one folder. In the folder, `files` is the new output, `moves.jsonl` lists the moves, and
 * `aside` has entries of the old output.
 */
const placeName = (epoch: number): string => `output-${epoch}`;
const placePattern = /^output-([0-9]+)$/;

const placePath = (folder: string, epoch: number): string => join(folder, '.halogrid', placeName(epoch));

/** The folder of the new output, which the leader with this epoch puts together. */
export const newFilesPath = (folder: string, epoch: number): string => join(placePath(folder, epoch), 'files');

/** The file with the list of moves. */
export const movesPath = (folder: string, epoch: number): string => join(placePath(folder, epoch), 'moves.jsonl');

/** The file with a line for each upload of an output to a bucket. */
export const uploadsPath = (folder: string, epoch: number): string => join(placePath(folder, epoch), 'uploads.jsonl');

/** The place for an entry of the old output. */
const asidePath = (folder: string, epoch: number, ...name: string[]): string =>
  join(placePath(folder, epoch), 'aside', ...name);

/** Whether a name in `.halogrid` is that of a folder in which a leader puts the output together. */
export const isOutputPlace = (name: string): boolean => placePattern.test(name);

/** The epochs of leaders that began to put an output together, in ascending order. */
async function epochsOf(folder: string): Promise<number[]> {
  const names = await readdir(join(folder, '.halogrid')).catch((): string[] => []);
  const epochs = names.flatMap((name) => placePattern.exec(name)?.slice(1).map(Number) ?? []);
  return epochs.sort((a, b) => a - b);
}

const isWhole = (folder: string, epoch: number): Promise<boolean> =>
  exists(join(newFilesPath(folder, epoch), 'job.json'));

/**
 * The epoch of the last leader that completed a new output, with its job.json, so that it may replace the content of
 * the folder; undefined if no leader did.
 */
export async function readyOutput(folder: string): Promise<number | undefined> {
  for (const epoch of (await epochsOf(folder)).reverse()) if (await isWhole(folder, epoch)) return epoch;
  return undefined;
}

/**
 * Makes the place of this leader, and takes over the outputs of earlier leaders: a complete output, perhaps moved into
 * place in part, becomes that of this leader; unfinished ones are removed. From then on every move of an earlier leader
 * fails, also if that leader was paused and goes on. The scratch folder must exist. Resolves with true if the new
 * output is complete; otherwise it is empty.
 */
export async function takeOverOutput(folder: string, epoch: number): Promise<boolean> {
  const own = placePath(folder, epoch);
  // Meanwhile, an earlier leader that still runs may take over from a leader before it.
  for (let earlier: number[]; ; ) {
    earlier = (await epochsOf(folder)).filter((one) => one < epoch);
    if (earlier.length === 0) break;
    for (const one of earlier) {
      if (await isWhole(folder, one)) {
        await rm(own, { recursive: true, force: true });
        await rename(placePath(folder, one), own).catch(unlessMissing);
      } else {
        // The rename is one step. Removing takes several, and the earlier leader may make folders in between.
        const gone = join(folder, '.halogrid', `${placeName(epoch)}-${one}`);
        await rename(placePath(folder, one), gone).catch(unlessMissing);
        await rm(gone, { recursive: true, force: true, maxRetries: 3 });
      }
    }
  }
  if (await isWhole(folder, epoch)) return true;
  await rm(own, { recursive: true, force: true });
  for (const made of [own, newFilesPath(folder, epoch), asidePath(folder, epoch)]) await mkdir(made);
  return false;
}

/**
 * Moves the new output of the leader with this epoch into place, job.json last. It may be interrupted at any point, and
 * is then repeated from the start, also by a leader that has taken the output over: entries that were moved before are
 * skipped.
 *
 * Every step is a move from the leader's place or to it. So no step of a leader has an effect once its place was taken
 * over. The leader must have been confirmed after the output was complete: then a later leader finds the place.
 */
export async function publishOutput(folder: string, epoch: number): Promise<void> {
  const files = newFilesPath(folder, epoch);
  for (const name of replacedFolders) {
    if (!(await exists(join(files, name)))) continue;
    await rename(join(folder, name), asidePath(folder, epoch, name)).catch(unlessMissing);
  }
  for await (const move of readMoves(folder, epoch)) {
    if ('remove' in move) {
      await rename(join(folder, move.remove), asidePath(folder, epoch, move.remove)).catch(unlessMissing);
    } else {
      const kept = asidePath(folder, epoch, ...move.keep.split('/'));
      await rename(kept, join(files, move.as)).catch(unlessMissing);
    }
  }
  await settlePictures(files);
  const parts = join(files, 'pipelines');
  if (await exists(parts)) {
    for (const name of await readdir(parts)) await settlePictures(join(parts, name));
    await syncFolder(parts);
  }
  for (const entry of await readdir(files)) {
    if (entry !== 'job.json') await replaceEntry(folder, epoch, entry);
  }
  await syncFolder(folder);
  await rename(join(files, 'job.json'), join(folder, 'job.json'));
  await syncFolder(folder);
}

/**
 * Moves an entry of the new output over the same entry of the old one. If the system refuses, because one of them is a
 * file and the other is not, or the old one is a folder with entries, the old one goes aside first.
 */
async function replaceEntry(folder: string, epoch: number, entry: string): Promise<void> {
  const [from, to] = [join(newFilesPath(folder, epoch), entry), join(folder, entry)];
  await rename(from, to).catch(async (error: NodeJS.ErrnoException) => {
    if (!['EISDIR', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST'].includes(error.code!)) throw error;
    await rename(to, asidePath(folder, epoch, entry));
    await rename(from, to);
  });
}

export async function* readMoves(folder: string, epoch: number): AsyncGenerator<Move> {
  const path = movesPath(folder, epoch);
  if (!(await exists(path))) return;
  for await (const line of createInterface({ input: createReadStream(path) })) yield JSON.parse(line);
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
