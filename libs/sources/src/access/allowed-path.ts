import { lstat, readlink, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { whyNoPath } from './path-bounds.ts';
import { SourceForbiddenError, sourceAccess } from './source-access.ts';

/** The most links that are followed in one path, as in Linux. */
const mostLinks = 40;

/**
 * The path with every symbolic link followed, if it lies in a data root; its last parts need not exist. Without data
 * roots, the path itself. Rejects with SourceForbiddenError for a path that lies elsewhere, that cannot be followed, or
 * that no file can have.
 */
export async function allowedPath(path: string): Promise<string> {
  const { roots } = sourceAccess();
  if (!roots) return path;
  const impossible = whyNoPath(path);
  if (impossible) throw new SourceForbiddenError(impossible);
  const real = await followLinks(resolve(path)).catch((error: unknown) => {
    if (isSystemError(error)) return undefined;
    throw error;
  });
  if (real !== undefined && roots.some((root) => isBelow(real, root))) return real;
  throw new SourceForbiddenError('The path lies outside of the data roots (--data-root)');
}

/** Why the target of a link may not be read; undefined if it may. */
export const whyForbidden = (path: string): Promise<string | undefined> =>
  allowedPath(path).then(
    () => undefined,
    ({ message }: Error) => message,
  );

/** Whether a path is `folder` or in it; both without links and without '.' and '..'. */
export const isBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);

/** Rejects with the system's error for a link that leads nowhere: a write there would create the file that it names. */
async function followLinks(path: string): Promise<string> {
  try {
    // Nearly all paths exist, and need only this one call.
    return await realpath(path);
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error;
    return await followUntilMissing(path, error);
  }
}

/**
 * As followLinks, for a path with a missing part: looks at each name, from the top. Rejects with `missing` if a link
 * leads to the missing part.
 */
async function followUntilMissing(path: string, missing: Error): Promise<string> {
  /**
   * Names still to come, the next one last: names of the path itself first in the array, names from links after them.
   */
  const names = namesOf(path);
  let own = names.length;
  let links = 0;
  let real = '/';
  for (let name = names.pop(); name !== undefined; name = names.pop()) {
    const isOwn = names.length < own;
    if (isOwn) own = names.length;
    if (name === '..') {
      real = dirname(real);
      continue;
    }
    const at = join(real, name);
    const stats = await lstat(at).catch((error: unknown) => {
      if (isSystemError(error) && error.code === 'ENOENT' && isOwn) return undefined;
      throw error;
    });
    if (!stats) return join(at, ...names.reverse());
    if (!stats.isSymbolicLink()) real = at;
    else if (++links > mostLinks) throw missing;
    else {
      const target = await readlink(at);
      if (target.startsWith('/')) real = '/';
      names.push(...namesOf(target));
    }
  }
  // The missing part was created meanwhile.
  return real;
}

/** The names of a path, from the last to the first. */
const namesOf = (path: string): string[] =>
  path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .reverse();

/** Node's own error for a path with a null byte counts too. */
const isSystemError = (error: unknown): error is NodeJS.ErrnoException & { code: string } =>
  error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string';
