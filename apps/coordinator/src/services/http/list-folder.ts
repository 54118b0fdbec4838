import { readdir, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { Refusal, refuseValue } from '@halogrid/jobs/refusal';
import { shortened } from '@halogrid/kernels';
import type { FolderAnswer, FolderEntry } from '@halogrid/proto';
import { allowedPath, compareNatural, SourceForbiddenError, sourceAccess } from '@halogrid/sources';

/** The most entries in an answer: nobody looks through more, and a folder may have millions. */
const mostTold = 500;

/**
 * Lists a folder that sources may be in: folders first, without hidden entries. For an empty path, lists the data
 * roots, or the folder where the coordinator was started. Rejects with Refusal, which tells nothing about other
 * folders.
 */
export async function listFolder(given: string, begin = process.cwd()): Promise<FolderAnswer> {
  const { roots } = sourceAccess();
  if (given === '' && roots && roots.length > 1) {
    const entries = roots.map((path) => ({ name: path, path, isFolder: true, bytes: 0 }));
    return { path: '', parent: '', entries, leftOut: 0 };
  }
  const asked = given || roots?.[0] || begin;
  if (!isAbsolute(asked) || asked.includes('\0')) refuseValue('path', asked, 'an absolute path');
  const path = await allowedPath(asked).catch(refuse);
  const names = await readdir(path, { withFileTypes: true }).catch(() => {
    throw new Refusal('missing', `There is no folder '${shortened(asked)}' that can be read`);
  });
  const seen = names.filter(({ name }) => !name.startsWith('.'));
  const sorted = seen.sort(
    (a, b) => Number(b.isDirectory()) - Number(a.isDirectory()) || compareNatural(a.name, b.name),
  );
  const entries = await Promise.all(
    sorted.slice(0, mostTold).map(async (entry): Promise<FolderEntry> => {
      const isFolder = entry.isDirectory();
      const bytes = isFolder
        ? 0
        : await stat(join(path, entry.name)).then(
            ({ size }) => size,
            () => 0,
          );
      return { name: entry.name, path: join(path, entry.name), isFolder, bytes };
    }),
  );
  return { path, parent: await parentOf(path, roots), entries, leftOut: sorted.length - entries.length };
}

/** Empty at a data root or the root of the file system. */
async function parentOf(path: string, roots: readonly string[] | undefined): Promise<string> {
  if (path === dirname(path) || roots?.includes(path)) return '';
  return dirname(path);
}

function refuse(error: unknown): never {
  if (error instanceof SourceForbiddenError) throw new Refusal('forbidden', error.message);
  throw error;
}
