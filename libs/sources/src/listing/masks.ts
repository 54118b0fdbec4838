import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { allowedPath } from '../access/allowed-path.ts';
import { localVersion } from '../files/local-file.ts';
import { formatOfName } from '../formats.ts';
import { InputError } from '../input-error.ts';

/** The mask of an image: a file on this machine's disk. */
export interface Mask {
  uri: string;
  version: string;
}

/** Folders whose names are kept: images come folder by folder. */
const mostFolders = 4;

/** Paths without the ending of the file's name. */
const stemOf = (name: string): string => basename(name, extname(name));

/** Finds the masks of images in a folder, or the file that is the mask of every image. */
export class Masks {
  readonly #path: string;
  #isFile: Promise<boolean> | undefined;
  /** By folder, the names of masks by their stems. */
  readonly #folders = new Map<string, Promise<Map<string, string[]>>>();

  /** `uri` is a file: URI of a folder or a file. */
  constructor(uri: string) {
    this.#path = fileURLToPath(uri);
  }

  /** The mask of the image of that name, as Source has it. Rejects with InputError if there is none, or several. */
  async of(name: string): Promise<Mask> {
    this.#isFile ??= stat(this.#path).then((found) => found.isFile());
    try {
      const path = (await this.#isFile) ? this.#path : await this.#beside(name);
      return { uri: pathToFileURL(path).href, version: localVersion(await stat(await allowedPath(path))) };
    } catch (error) {
      if (error instanceof InputError) throw error;
      throw new InputError(
        'read',
        `The mask of '${name}' in '${this.#path}' cannot be read: ${(error as Error).message}`,
      );
    }
  }

  async #beside(name: string): Promise<string> {
    const folder = join(this.#path, dirname(name));
    const names = (await this.#namesIn(folder)).get(stemOf(name)) ?? [];
    if (names.length === 1) return join(folder, names[0]!);
    const stem = join(folder, stemOf(name));
    if (names.length === 0)
      throw new InputError('read', `There is no mask '${stem}' with the ending of an image for '${name}'`);
    const list = names.map((each) => `'${each}'`).join(', ');
    throw new InputError('read', `There are several masks in '${folder}' for '${name}': ${list}`);
  }

  #namesIn(folder: string): Promise<Map<string, string[]>> {
    const known = this.#folders.get(folder);
    if (known) return known;
    const names = namesByStem(folder);
    this.#folders.set(folder, names);
    if (this.#folders.size > mostFolders) this.#folders.delete(this.#folders.keys().next().value!);
    return names;
  }
}

async function namesByStem(folder: string): Promise<Map<string, string[]>> {
  const names = new Map<string, string[]>();
  const found = await readdir(await allowedPath(folder)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  for (const name of found.sort()) {
    if (formatOfName(name) === undefined) continue;
    const same = names.get(stemOf(name));
    if (same) same.push(name);
    else names.set(stemOf(name), [name]);
  }
  return names;
}
