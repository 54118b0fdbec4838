import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/*
 * The recursive mkdir of Node 24 never ends if an existing folder reports that nothing can be in it, as /proc does: it
 * goes back and forth between that folder and the one that cannot be made.
 */

/**
 * Makes a folder and its missing parents with `mode` (0o777 unless given, less the umask); resolves with the first
 * folder that was missing. Rejects as mkdir does.
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
    // Another process may have made it meanwhile.
    if (codeOf(error) !== 'EEXIST') throw error;
  });
  return firstMade ?? path;
}

/** As makeFolders, for callers that cannot wait. */
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
