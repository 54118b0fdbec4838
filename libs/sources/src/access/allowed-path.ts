import { lstat, readlink, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { whyNoPath } from './path-bounds.ts';
import { SourceForbiddenError, sourceAccess } from './source-access.ts';

/** Links that are followed on the way to one path, as Linux does. */
const mostLinks = 40;

/**
 * The path with every symbolic link followed, where it lies in a data root; so it may end where nothing is yet. Without data
 * roots, the path itself. Rejects with SourceForbiddenError for one that lies elsewhere, that nobody can follow, or
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

/** Whether a path is `folder` or in it; both without links and without '.' and '..'. */
export const isBelow = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);

/** Rejects with the system's error for a link that leads nowhere: whoever writes there would make what it names. */
async function followLinks(path: string): Promise<string> {
  try {
    // One call for what is there, which nearly all is.
    return await realpath(path);
  } catch (error) {
    if (!isSystemError(error) || error.code !== 'ENOENT') throw error;
    return await followUntilMissing(path, error);
  }
}

/**
 * As followLinks where something is missing, from the top: one look at each name. Rejects with `missing` where a link
 * leads there.
 */
async function followUntilMissing(path: string, missing: Error): Promise<string> {
  /** Names still to come, the next one last: those of the path itself, and behind them those of links. */
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
  // It was made since.
  return real;
}

/** From the last to the first. */
const namesOf = (path: string): string[] =>
  path
    .split('/')
    .filter((name) => name !== '' && name !== '.')
    .reverse();

/** Also a path with a null byte. */
const isSystemError = (error: unknown): error is NodeJS.ErrnoException & { code: string } =>
  error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string';
