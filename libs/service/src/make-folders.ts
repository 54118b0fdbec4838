import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/*
 * The recursive mkdir of Node 24 never ends where a folder that exists says that nothing can be in it, as /proc does:
 * it goes back and forth between that folder and the one that cannot be made.
 */

/**
 * Makes a folder and its parents, with `mode` where they are missing (0o777 less the umask); resolves with the first
 * that was missing. Rejects as mkdir does.
 */
export async function makeFolders(path: string, mode?: number): Promise<string | undefined> {
  try {
    await mkdir(path, { mode });
    return path;
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await stat(path)).isDirectory()) return undefined;
    if (codeOf(error) !== 'ENOENT' || path === dirname(path)) throw error;
  }
  const firstMade = await makeFolders(dirname(path), mode);
  await mkdir(path, { mode }).catch((error: unknown) => {
    // Another process may have been as fast.
    if (codeOf(error) !== 'EEXIST') throw error;
  });
  return firstMade ?? path;
}

/** As makeFolders, for whoever cannot wait. */
export function makeFoldersSync(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && statSync(path).isDirectory()) return;
    if (codeOf(error) !== 'ENOENT' || path === dirname(path)) throw error;
    makeFoldersSync(dirname(path));
    try {
      mkdirSync(path);
    } catch (again) {
      if (codeOf(again) !== 'EEXIST') throw again;
    }
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
