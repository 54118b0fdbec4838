import { randomUUID } from 'node:crypto';
import { constants, copyFile, link, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/*
 * job.json as the claim to an output folder: the job that it names has the folder. If several processes claim it at
 * once, one gets it. A process that is killed meanwhile leaves nothing that keeps the next one out:
 *
 *   job.json of the job before ─ rename ─► .job.json.UUID       this succeeds for one
 *   .claim.UUID, whole and durable ─ link ─► job.json           this fails where another process was faster
 *
 * A process that finds only `.job.json.UUID` renames it back.
 */

/** The unit in which the system counts blocks of a file. */
const statBlockBytes = 512;

const claimOf = (path: string): string => join(path, 'job.json');
const beforePattern = /^\.job\.json\.[0-9a-f-]{36}$/;
const unfinishedPattern = /^\.claim\.[0-9a-f-]{36}$/;

/** Whether a process that was killed while it took the folder left the file with that name. */
export const isLeftOver = (name: string): boolean => beforePattern.test(name) || unfinishedPattern.test(name);

/** Writes job.json if it is missing. Returns false if another process was faster. */
export async function createClaim(path: string, text: string): Promise<boolean> {
  const unfinished = join(path, `.claim.${randomUUID()}`);
  try {
    await writeFile(unfinished, text, { flag: 'wx', flush: true });
    return await putInPlace(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
}

/**
 * Replaces job.json if `isExpected` accepts the existing text. Returns false if not, or if another process was faster.
 */
export async function replaceClaim(
  path: string,
  text: string,
  isExpected: (before: string) => boolean,
): Promise<boolean> {
  const before = join(path, `.job.json.${randomUUID()}`);
  if (!(await unlessGone(rename(claimOf(path), before)))) return false;
  let isMine = false;
  try {
    isMine = isExpected(await readFile(before, 'utf8')) && (await createClaim(path, text));
  } finally {
    if (!isMine) await putInPlace(before, path);
    await rm(before, { force: true });
  }
  return isMine;
}

/**
 * Renames job.json to `to` if `isExpected` accepts its text. Returns false if not, or if another process was faster.
 */
export async function setClaimAside(
  path: string,
  to: string,
  isExpected: (before: string) => boolean,
): Promise<boolean> {
  if (!(await unlessGone(rename(claimOf(path), to)))) return false;
  if (isExpected(await readFile(to, 'utf8'))) return true;
  await putInPlace(to, path);
  await rm(to, { force: true });
  return false;
}

/**
 * Overwrites the claim in its existing blocks, with one system call, for a disk without room for another file. Returns
 * false if the blocks are too few.
 */
export async function overwriteClaim(path: string, text: string): Promise<boolean> {
  const file = await open(claimOf(path), 'r+');
  try {
    const { size, blocks } = await file.stat();
    // Blanks replace the rest of a longer claim.
    const bytes = Buffer.from(`${text}${' '.repeat(Math.max(0, size - Buffer.byteLength(text)))}`);
    if (bytes.length > blocks * statBlockBytes) return false;
    const { bytesWritten } = await file.write(bytes, 0, bytes.length, 0);
    await file.sync();
    return bytesWritten === bytes.length;
  } finally {
    await file.close();
  }
}

/** Restores a claim that a process removed and did not replace. To be called before job.json is looked for. */
export async function restoreClaim(path: string): Promise<void> {
  const names = await readdir(path).catch((): string[] => []);
  if (names.includes('job.json')) return;
  for (const name of names) if (beforePattern.test(name)) await putInPlace(join(path, name), path);
}

/** Removes files that killed processes left while they took the folder. `text` is the current claim. */
export async function removeLeftOvers(path: string, text: string): Promise<void> {
  for (const name of await readdir(path)) {
    if (!isLeftOver(name)) continue;
    const file = join(path, name);
    // A file with this claim is about to be renamed back, by a process that mistook it for another.
    if ((await readFile(file, 'utf8').catch(() => text)) !== text) await rm(file, { force: true });
  }
}

/** Links a file to job.json. Returns false if there is a job.json already, or the file is gone. */
async function putInPlace(file: string, path: string): Promise<boolean> {
  try {
    return await unlessGone(link(file, claimOf(path)));
  } catch (error) {
    if (!isWithoutLinks(error)) throw error;
    return await unlessGone(copyFile(file, claimOf(path), constants.COPYFILE_EXCL));
  }
}

async function unlessGone(act: Promise<void>): Promise<boolean> {
  try {
    await act;
    return true;
  } catch (error) {
    if (['EEXIST', 'ENOENT'].includes(codeOf(error))) return false;
    throw error;
  }
}

/** Some file systems of networks and of removable disks have no hard links. */
const isWithoutLinks = (error: unknown): boolean =>
  ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeOf(error));

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? '';
