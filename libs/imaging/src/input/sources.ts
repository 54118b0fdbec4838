import type { Stats } from 'node:fs';
import { glob, open, stat } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { supportedExtensions } from './image-extensions.ts';
import { compareNaturalPaths } from './natural-order.ts';
import { toUri } from './to-uri.ts';
import { walkFolder } from './walk-folder.ts';

/** An input before it is opened: it may yet turn out to be no image. */
export interface Source {
  uri: string;
  /** Path relative to the folder that was named, or the base name; parts are separated by '/'. */
  name: string;
  /** Encoded; 0 where it is not known. */
  sizeBytes: number;
  /** Named itself, rather than found in a folder, by a glob or in a manifest. */
  named: boolean;
}

/** A source that leads to no input: one sentence. */
export class SourceNotFoundError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SourceNotFoundError';
  }
}

/**
 * The inputs that a file: URI stands for, always in the same order:
 *
 * - a file: itself, whatever its name;
 * - a file NAME.txt: a manifest, a path relative to its folder or a URI a line; empty lines and lines that begin with #
 *   are passed over; its order is kept;
 * - a folder: the files in it and below that have the extension of an image format, in natural order;
 * - a glob, where there is no such file or folder: the files it matches, in natural order.
 *
 * Hidden files are passed over. Throws SourceNotFoundError where that makes no input at all; inputs that cannot be read
 * are listed, and opening them says why they cannot.
 */
export async function* listSources(uri: string): AsyncGenerator<Source> {
  const path = pathOf(uri);
  const stats = await statOf(path);
  if (!stats) yield* listGlob(path);
  else if (stats.isDirectory()) yield* listFolder(path);
  else if (stats.isFile() && /\.txt$/i.test(path)) yield* listManifest(path);
  else yield { uri: pathToFileURL(path).href, name: basename(path), sizeBytes: stats.size, named: true };
}

function pathOf(uri: string): string {
  try {
    return fileURLToPath(uri);
  } catch (error) {
    throw new SourceNotFoundError(`'${uri}' is not the URI of a file on this machine: ${(error as Error).message}`);
  }
}

async function* listFolder(folder: string): AsyncGenerator<Source> {
  let found = 0;
  let ignored = 0;
  for await (const entry of walkFolder(folder)) {
    if (!entry.isImage) {
      ignored++;
      continue;
    }
    found++;
    yield {
      uri: pathToFileURL(join(folder, entry.name)).href,
      name: entry.name,
      sizeBytes: entry.sizeBytes,
      named: false,
    };
  }
  if (found === 0) {
    const others =
      ignored === 0
        ? 'it has no files'
        : `none of its ${ignored} files has one of the extensions ${supportedExtensions}`;
    throw new SourceNotFoundError(`The folder '${folder}' holds no images: ${others}`);
  }
}

async function* listGlob(path: string): AsyncGenerator<Source> {
  const { folder, rest } = await splitAtExisting(path);
  if (!/[*?[{]/.test(rest)) throw new SourceNotFoundError(`'${path}' does not exist`);
  const names: string[] = [];
  for await (const name of glob(rest, { cwd: folder })) names.push(name);
  names.sort(compareNaturalPaths);
  let found = 0;
  for (const name of names) {
    const stats = await statOf(join(folder, name)).catch(() => undefined);
    if (stats?.isDirectory()) continue;
    found++;
    yield { uri: pathToFileURL(join(folder, name)).href, name, sizeBytes: stats?.size ?? 0, named: false };
  }
  if (found === 0) throw new SourceNotFoundError(`No file matches '${path}'`);
}

async function* listManifest(path: string): AsyncGenerator<Source> {
  const folder = dirname(path);
  let found = 0;
  const file = await open(path).catch((error: Error) => {
    throw new SourceNotFoundError(`The manifest '${path}' cannot be read: ${error.message}`);
  });
  for await (const rawLine of file.readLines()) {
    const line = rawLine.replace(/^\ufeff/, '').trim();
    if (line === '' || line.startsWith('#')) continue;
    found++;
    yield await manifestEntry(line, folder);
  }
  if (found === 0) throw new SourceNotFoundError(`The manifest '${path}' names no images`);
}

async function manifestEntry(line: string, folder: string): Promise<Source> {
  let uri: string;
  let path: string;
  try {
    uri = toUri(line, folder);
    path = fileURLToPath(uri);
  } catch {
    // Opening it says what is wrong with it, beside the inputs that are good.
    return { uri: line, name: basename(line), sizeBytes: 0, named: false };
  }
  const below = relative(folder, path);
  const stats = await statOf(path).catch(() => undefined);
  return { uri, name: /^\.\.(\/|$)/.test(below) ? basename(path) : below, sizeBytes: stats?.size ?? 0, named: false };
}

/** The longest part of a path that is a folder, and the rest: brackets in the name of a real folder are no pattern. */
async function splitAtExisting(path: string): Promise<{ folder: string; rest: string }> {
  const parts = path.split('/').slice(1);
  let folder = '/';
  while (parts.length > 1 && (await statOf(join(folder, parts[0]!)))?.isDirectory())
    folder = join(folder, parts.shift()!);
  return { folder, rest: parts.join('/') };
}

/** Undefined where there is nothing, or a symbolic link to nothing. Rejects with SourceNotFoundError where nobody can tell. */
async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new SourceNotFoundError(`'${path}' cannot be reached: ${message}`);
  }
}
