import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { allowedPath, InputError } from '@halogrid/sources';

/** Lines of Slidedat.ini (MIRAX) and of VMS and VMU (Hamamatsu) that name files of the slide. */
const namesFile = /^\s*(?:FILE_\d+|INDEXFILE|ImageFile.*?|MapFile|OptimisationFile|MacroImage)\s*=\s*(.*?)\s*$/gm;

/** OpenSlide reads no such texts that are longer. */
const maxTextBytes = 2 ** 20;

/**
 * A name for the versions of the files that a slide has beside the one at `path`: the folder of a `.mrxs`, and the
 * files that a `.vms` or `.vmu` names. Rejects with InputError if one of them may not be read, or lies elsewhere.
 */
export async function filesBeside(path: string): Promise<string> {
  const isMirax = extname(path).toLowerCase() === '.mrxs';
  const folder = isMirax ? path.slice(0, -extname(path).length) : dirname(path);
  const named = filesIn(await textOf(isMirax ? join(folder, 'Slidedat.ini') : path));
  const outside = named.find((name) => /[/\\]/.test(name));
  if (outside !== undefined)
    throw new InputError('decode', `The slide names a file that does not lie with its others: '${outside}'`);
  const names = isMirax ? await namesIn(folder) : named;
  const hash = createHash('sha256');
  for (const name of names.sort()) {
    const found = await stat(await allowedPath(join(folder, name))).catch(ifMissing);
    hash.update(`${name}\n${found?.size} ${found?.mtimeMs}\n`);
  }
  return hash.digest('hex').slice(0, 16);
}

/** The files that a text names. */
export const filesIn = (text: string): string[] =>
  [...text.matchAll(namesFile)].map(([, name]) => name!).filter((name) => name !== '');

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    ifMissing(error as NodeJS.ErrnoException);
    throw new InputError('read', `The folder '${basename(folder)}' with the pixels of the slide is not beside it`);
  }
}

/** Empty for a file that is missing, or longer than such texts are. */
async function textOf(path: string): Promise<string> {
  const found = await stat(await allowedPath(path)).catch(ifMissing);
  return found?.isFile() && found.size <= maxTextBytes ? await readFile(path, 'latin1') : '';
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error.code ? new InputError('read', `A file of the slide cannot be read: ${error.code}`) : error;
}
