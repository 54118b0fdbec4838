import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolders, dataFolder } from '@halogrid/service';
import { describeBytes } from '@halogrid/service/describe-bytes';

/** The free space of a folder that the program writes to, or of the nearest folder above it that exists. */
export interface FolderSpace {
  what: string;
  path: string;
  freeBytes: number;
  canWrite: boolean;
}

/**
 * The folders that a program in the working folder `folder` writes to. Temporary files of a job lie beside its results.
 */
export function folderSpaces(env: NodeJS.ProcessEnv, folder: string): FolderSpace[] {
  const data = dataFolder(env);
  const folders: [what: string, path: string | undefined][] = [
    ['results', join(folder, 'halogrid-out')],
    ['ledger', data],
    ['cache', cacheFolders(env)[0]],
  ];
  return folders.flatMap(([what, path]) => (path === undefined ? [] : [spaceOf(what, path)]));
}

function spaceOf(what: string, path: string): FolderSpace {
  let there = path;
  while (!statSync(there, { throwIfNoEntry: false })?.isDirectory() && dirname(there) !== there) there = dirname(there);
  const { bavail, bsize } = statfsSync(there);
  return { what, path: there, freeBytes: bavail * bsize, canWrite: mayWrite(there) };
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

export const describeSpace = ({ what, path, freeBytes, canWrite }: FolderSpace): string =>
  `${what}: ${describeBytes(freeBytes)} free in ${path}${canWrite ? '' : ', but this user cannot write there'}`;
