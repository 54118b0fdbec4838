import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { SourceForbiddenError, sourceAccess } from './source-access.ts';

/**
 * The path with every symbolic link followed, where it lies in a data root; so it may end where nothing is yet. Without data
 * roots, the path itself. Rejects with SourceForbiddenError for one that lies elsewhere, or that nobody can follow.
 */
export async function allowedPath(path: string): Promise<string> {
  const { roots } = sourceAccess();
  if (!roots) return path;
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
    return await realpath(path);
  } catch (error) {
    const isMissing = isSystemError(error) && error.code === 'ENOENT';
    if (!isMissing || path === dirname(path) || (await isThere(path))) throw error;
    return join(await followLinks(dirname(path)), basename(path));
  }
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Also a path with a null byte. */
const isSystemError = (error: unknown): error is NodeJS.ErrnoException & { code: string } =>
  error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string';
