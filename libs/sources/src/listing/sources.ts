import { createReadStream, type Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Turns } from '@halogrid/threads';
import { allowedPath } from '../access/allowed-path.ts';
import { SourceForbiddenError } from '../access/source-access.ts';
import { localVersion } from '../files/local-file.ts';
import { quickFiles } from '../files/quick-files.ts';
import { hasImageExtension, hasVideoExtension, holdsSources, isParquetName, usualExtensions } from '../formats.ts';
import { globOf } from '../globs/glob-selection.ts';
import { type FilterGlobs, PathFilter } from '../globs/path-filter.ts';
import { imagesBelow, isHidden, type PassedOver } from '../globs/selection.ts';
import { splitMember } from '../member-uri.ts';
import { pathInHolder, splitPart } from '../part-uri.ts';
import { isPlaneUri } from '../plane-uri.ts';
import { isRemoteUri } from '../remote/remote-uri.ts';
import { SourceNotFoundError } from '../source-errors.ts';
import { folderOfMetadata, isStoreName, metadataNames, nameOfPlane } from '../zarr/store-name.ts';
import { filtered, type ListingOptions, takesPath } from './filtered.ts';
import type { FoundFile } from './found-file.ts';
import { InputsBefore, type SourceShape } from './inputs-before.ts';
import { listPlanes } from './list-planes.ts';
import { type ManifestRow, rowFacts } from './manifest-row.ts';
import { lineRows, manifestKind } from './manifest-rows.ts';
import { noneOf } from './none-of.ts';
import { listRemote, remoteEntry, withRemoteSizes } from './remote-sources.ts';
import type { Source } from './source.ts';
import { withMembers } from './tar-sources.ts';
import { toUri } from './to-uri.ts';
import { type LeftOut, type WalkOptions, walkFolder } from './walk-folder.ts';

export { type LeftOut, type PassedOver, SourceNotFoundError };

/**
 * The inputs that these URIs stand for, some at a time, in order: see listSources. An input that an earlier URI stands
 * for as well is listed only there, as far as InputsBefore can tell. Throws SourceNotFoundError if a filter leaves out
 * every input.
 */
export async function* listAllSources(
  uris: Iterable<string>,
  { onLeftOut, onPassedOver, filter: globs, level = 0, column }: ListOptions = {},
): AsyncGenerator<Source[]> {
  const filter = filterOf(globs);
  const before = new InputsBefore();
  let found = 0;
  const turns = new Turns();
  const leftOut = (folder: LeftOut): void => {
    before.leaveOut(folder.path);
    onLeftOut?.(folder);
  };
  const passedOver = (passed: PassedOver): void => {
    if (!before.passedOver(passed.path)) onPassedOver?.(passed);
  };
  for (const uri of uris) {
    for await (const listed of list(uri, { onLeftOut: leftOut, onPassedOver: passedOver, filter, column })) {
      if (turns.isOver) await turns.giveWay();
      const sources: Source[] = [];
      for (const source of listed) {
        const isThere = source.sizeBytes > 0 || source.isStore;
        const isKnown = before.includes(source.uri) && (isThere || (await isNoFolder(source.uri)));
        if (!isKnown) sources.push(source);
      }
      found += sources.length;
      yield* withPlanes(sources, level);
    }
    before.add(await shapeOf(uri, filter));
  }
  if (filter && found === 0) throw new SourceNotFoundError('include and exclude leave out every input');
}

/**
 * `onLeftOut` is called for every folder that is left out because it holds the output of a job. `onPassedOver` is
 * called once for everything else in folders that is not an input, and for each input that `filter` leaves out. `level`
 * is the level of OME-Zarr that is read; 0, the largest, by default. `column` is the column of Parquet files that has
 * images.
 */
export type ListOptions = Pick<WalkOptions, 'onLeftOut' | 'onPassedOver'> & {
  filter?: FilterGlobs | undefined;
  level?: number | undefined;
  column?: string | undefined;
};

/** The sources, with the planes of each Zarr in its place. */
async function* withPlanes(sources: readonly Source[], level: number): AsyncGenerator<Source[], void, undefined> {
  let plain: Source[] = [];
  for (const source of sources) {
    if (!source.isStore || source.error) plain.push(source);
    else {
      if (plain.length > 0) yield plain;
      plain = [];
      yield* listPlanes(source, level);
    }
  }
  if (plain.length > 0) yield plain;
}

const filterOf = (globs: FilterGlobs | undefined): PathFilter | undefined => globs && new PathFilter(globs);

/** Only a manifest names missing files or folders: these were not listed with the folder that they should be in. */
const isNoFolder = (uri: string): Promise<boolean> =>
  lstat(new URL(uri)).then(
    (stats) => !stats.isDirectory(),
    () => false,
  );

async function shapeOf(uri: string, filter: PathFilter | undefined): Promise<SourceShape> {
  if (!uri.startsWith('file:')) return { kind: 'input', uri };
  const path = pathOf(uri);
  const stats = await statOf(path);
  if (!stats) {
    const { folder, rest } = await splitAtExisting(path);
    return { kind: 'glob', folder, selection: filtered(globOf(rest, path), filter) };
  }
  const store = isPlaneUri(uri) ? undefined : await storeFolder(path, stats);
  if (store !== undefined) return { kind: 'input', uri: pathToFileURL(store).href };
  if (stats.isDirectory()) return { kind: 'folder', folder: resolve(path), selection: filtered(imagesBelow, filter) };
  // The rows of a Parquet file are inputs, or it is a manifest, and then never an input itself.
  const isUntold =
    !isParquetName(path) && (manifestKind(path) !== undefined || filter?.takes(basename(path)) === false);
  return isUntold ? { kind: 'untold' } : { kind: 'input', uri };
}

/** Whether a file of this machine is a manifest. One in Parquet may hold images instead. */
async function isManifest(uri: string, options: ListingOptions): Promise<boolean> {
  const path = pathOf(uri);
  const kind = (await statOf(path))?.isFile() ? manifestKind(path) : undefined;
  if (kind !== 'parquet') return kind !== undefined;
  const { isParquetManifest } = await import('./parquet/parquet-sources.ts');
  return await isParquetManifest(uri, options).catch(() => true);
}

/**
 * The inputs that a URI stands for, always in the same order (on servers and in buckets: see listRemote):
 *
 * - a file: itself, whatever its name;
 * - a file NAME.txt: a manifest, a path relative to its folder or a URI a line; empty lines and lines that begin with #
 *   are passed over; its order is kept;
 * - a file NAME.jsonl, NAME.ndjson or NAME.parquet: a manifest with more than names, see ManifestRow; what states a
 *   size, a version, an ETag or a time is not looked at;
 * - a file NAME.tar: the files in it, as in a folder (see withMembers), here and wherever a tar is found;
 * - a file NAME.parquet that is not such a manifest: the images in its rows (see withRows), wherever it is found;
 * - a folder: the files in it and below that have the extension of an image format, in natural order;
 * - a glob, if there is no such file or folder: the files it matches, in natural order;
 * - a Zarr, which is a folder named *.zarr wherever it is found, and any folder with a Zarr's metadata if it is named
 *   itself: its planes. The metadata file stands for the same.
 *
 * Hidden files are passed over. So are folders that systems keep (isPassedOver) in a folder, and folders that hold the
 * output of a job, below a folder or the place where a glob begins. A folder is never in memory as a whole, however
 * many files it has. Throws SourceForbiddenError for a URI that this process may not read, and SourceNotFoundError if
 * there is no input at all. Inputs that cannot be read are listed, and opening them gives the reason.
 */
export async function* listSources(uri: string, options: Omit<ListOptions, 'filter'> = {}): AsyncGenerator<Source> {
  for await (const sources of list(uri, options)) {
    for await (const some of withPlanes(sources, options.level ?? 0)) yield* some;
  }
}

/**
 * Throws SourceNotFoundError if a URI stands for no input, as listSources does; returns false if the filter leaves out
 * all. It looks until it finds the first, in any order, so a folder of a million frames is as fast as one of ten.
 */
export async function checkHasSource(
  uri: string,
  { filter, column }: Pick<ListOptions, 'filter' | 'column'> = {},
): Promise<boolean> {
  for await (const sources of list(uri, { isSorted: false, filter: filterOf(filter), column })) {
    if (sources.length > 0) return true;
  }
  return false;
}

/**
 * Whether a video may be among the inputs that these URIs stand for: one has its extension, or was named and could be
 * anything. True if more than `most` inputs come before one. Throws as listSources does.
 */
export async function mayHaveVideo(
  uris: Iterable<string>,
  most: number,
  { filter: globs, column }: Pick<ListOptions, 'filter' | 'column'> = {},
): Promise<boolean> {
  const filter = filterOf(globs);
  const turns = new Turns();
  let looks = 0;
  for (const uri of uris) {
    for await (const sources of list(uri, { isSorted: false, filter, column })) {
      if (turns.isOver) await turns.giveWay();
      for (const { name, named } of sources) {
        if (hasVideoExtension(name) || (named && !hasImageExtension(name)) || ++looks > most) return true;
      }
    }
  }
  return false;
}

/** The members of a tar, the rows of a Parquet file, and other files as they are. */
const list = (uri: string, options: ListingOptions): AsyncGenerator<Source[]> =>
  withMembers(withRowsOf(listFiles(uri, options), options), options);

/** As withRows, whose code is loaded for the first Parquet file. */
async function* withRowsOf(chunks: AsyncIterable<Source[]>, options: ListingOptions): AsyncGenerator<Source[]> {
  for await (const sources of chunks) {
    if (!sources.some(({ name }) => isParquetName(name))) yield sources;
    else {
      const { withRows } = await import('./parquet/parquet-sources.ts');
      yield* withRows([sources], options);
    }
  }
}

async function* listFiles(uri: string, options: ListingOptions): AsyncGenerator<Source[]> {
  if (isRemoteUri(uri)) return yield* listRemote(uri, options);
  const path = pathOf(uri);
  await allowedPath(path);
  const stats = await statOf(path);
  const store = stats && (await storeFolder(path, stats));
  if (stats && isPlaneUri(uri)) yield [planeOf(uri, path)];
  else if (store !== undefined) {
    if (takesPath(basename(store), options)) yield [storeAt(store)];
  } else if (!stats) yield* listGlob(path, options);
  else if (stats.isDirectory()) yield* listFolder(path, options);
  else if (splitPart(uri)[1] === '' && (await isManifest(uri, options)))
    yield* withRemoteSizes(listManifest(path, options), options);
  else {
    const { member } = splitMember(uri);
    const name = basename(pathInHolder(uri) ?? path);
    const [, part] = splitPart(uri);
    // The filter chooses among what is in a tar or a Parquet file.
    if (!holdsSources(name) && !takesPath(name, options)) return;
    const facts = { sizeBytes: member?.length ?? stats.size, version: localVersion(stats) };
    yield [{ uri: pathToFileURL(path).href + part, name, ...facts, named: part === '' }];
  }
}

function pathOf(uri: string): string {
  try {
    return fileURLToPath(uri);
  } catch (error) {
    throw new SourceNotFoundError(`'${uri}' is not the URI of a file on this machine: ${(error as Error).message}`);
  }
}

/**
 * The folder of the Zarr that a path stands for: a folder named so, or with a file of metadata, or that file itself.
 * Undefined for every other path.
 */
async function storeFolder(path: string, stats: Stats): Promise<string | undefined> {
  if (!stats.isDirectory()) {
    const folder = folderOfMetadata(path);
    return folder === path ? undefined : folder;
  }
  if (isStoreName(basename(path))) return resolve(path);
  for (const name of metadataNames) {
    if (await statOf(join(path, name)).catch(() => undefined)) return resolve(path);
  }
  return undefined;
}

const storeAt = (folder: string): Source => {
  return { uri: pathToFileURL(folder).href, name: basename(folder), sizeBytes: 0, named: false, isStore: true };
};

/** A plane that was named itself. */
const planeOf = (uri: string, path: string): Source => ({
  uri,
  name: nameOfPlane(uri, path),
  sizeBytes: 0,
  named: false,
});

async function* listFolder(folder: string, options: ListingOptions): AsyncGenerator<Source[]> {
  const leftOut = new LeftOutCount(options);
  const found = yield* sourcesOf(folder, walkFolder(folder, filtered(imagesBelow, options.filter), leftOut.options));
  if (found === 0 && leftOut.filtered === 0) {
    const others =
      leftOut.files === 0
        ? 'it has no files'
        : `${noneOf(leftOut.files, 'file')} the extension of an image or video: ${usualExtensions}`;
    throw new SourceNotFoundError(`The folder '${folder}' holds no images: ${others}${leftOut.clause}`);
  }
}

async function* listGlob(path: string, options: ListingOptions): AsyncGenerator<Source[]> {
  const { folder, rest } = await splitAtExisting(path);
  if (!/[*?[{]/.test(rest)) throw new SourceNotFoundError(`'${path}' does not exist${orNotUtf8(path)}`);
  const leftOut = new LeftOutCount(options);
  const selection = filtered(globOf(rest, path), options.filter);
  const found = yield* sourcesOf(folder, walkFolder(folder, selection, leftOut.options));
  if (found === 0 && leftOut.filtered === 0)
    throw new SourceNotFoundError(`No file matches '${path}'${leftOut.clause}`);
}

/** The name that Node gives for one that is not UTF-8 leads to no file. */
const orNotUtf8 = (path: string): string =>
  path.includes('\ufffd') ? ': a file whose name is not UTF-8 must be renamed first' : '';

/** Counts files that are left out, for the message about a folder without images. */
class LeftOutCount {
  readonly options: WalkOptions;
  /** Files that are neither images nor hidden. */
  files = 0;
  /** Files and folders that the filter leaves out. */
  filtered = 0;
  #ofJobs = 0;
  #folders = 0;

  constructor(options: WalkOptions) {
    const onLeftOut = (leftOut: LeftOut): void => {
      this.#ofJobs++;
      options.onLeftOut?.(leftOut);
    };
    const onPassedOver = (passed: PassedOver): void => {
      if (passed.isFiltered) this.filtered++;
      else if (passed.isFolder) this.#folders++;
      else if (!isHidden(basename(passed.path))) this.files++;
      options.onPassedOver?.(passed);
    };
    this.options = { ...options, onLeftOut, onPassedOver };
  }

  /** The end of a sentence. */
  get clause(): string {
    const ofJobs = `; folders left out because they hold the output of a job: ${this.#ofJobs}`;
    const others = `; folders left out because they are hidden, or of a kind in which systems keep copies: ${this.#folders}`;
    return `${this.#ofJobs > 0 ? ofJobs : ''}${this.#folders > 0 ? others : ''}`;
  }
}

/** Returns the number of sources. */
async function* sourcesOf(
  folder: string,
  chunks: AsyncIterable<readonly FoundFile[]>,
): AsyncGenerator<Source[], number, undefined> {
  const base = pathToFileURL(join(folder, '/')).href;
  let found = 0;
  for await (const files of chunks) {
    found += files.length;
    yield files.map((file) => {
      // Nine of ten names can stand in a URI as they are, and making one takes as long as everything else (measured).
      const uri = /^[\w.\-/]+$/.test(file.name) ? base + file.name : pathToFileURL(join(folder, file.name)).href;
      return { uri, named: false, ...file };
    });
  }
  return found;
}

async function* listManifest(path: string, options: ListingOptions): AsyncGenerator<Source[]> {
  const folder = dirname(path);
  let found = 0;
  try {
    for await (const rows of rowsOf(path)) {
      found += rows.length;
      const sources: Source[] = [];
      const taken = rows.filter(({ error, text }) => error || takesPath(text, options));
      for (const row of taken) sources.push(await manifestEntry(row, folder));
      yield sources;
    }
  } catch (error) {
    const { syscall, message } = error as NodeJS.ErrnoException;
    throw syscall ? new SourceNotFoundError(`The manifest '${path}' cannot be read: ${message}`) : error;
  }
  if (found === 0) throw new SourceNotFoundError(`The manifest '${path}' names no images`);
}

async function* rowsOf(path: string): AsyncGenerator<ManifestRow[]> {
  const kind = manifestKind(path)!;
  if (kind !== 'parquet') return yield* lineRows(createReadStream(path), kind);
  const { parquetRows, openParquet } = await import('./parquet/parquet-rows.ts');
  yield* parquetRows(await openParquet(path), path);
}

async function manifestEntry(row: ManifestRow, folder: string): Promise<Source> {
  const { text: line, error: wrong } = row;
  if (wrong) return { uri: line, name: basename(line), sizeBytes: 0, named: false, error: wrong };
  if (isRemoteUri(line)) return { ...remoteEntry(line), ...rowFacts(row, false) };
  let uri: string;
  let path: string;
  try {
    uri = toUri(line, folder);
    path = fileURLToPath(uri);
    await allowedPath(path);
  } catch (caught) {
    const error = caught instanceof SourceForbiddenError ? caught.message : undefined;
    // It is listed beside the good inputs, and opening it gives the reason.
    return { uri: line, name: basename(line), sizeBytes: 0, named: false, error };
  }
  const below = relative(folder, path);
  const { member } = splitMember(uri);
  const name = pathInHolder(uri) ?? (/^\.\.(\/|$)/.test(below) ? basename(path) : below);
  const facts = rowFacts(row, true);
  // How an input is planned depends on its size.
  if (facts && row.facts?.sizeBytes !== undefined) return { uri, name, named: false, ...facts };
  const stats = await statOf(path).catch(() => undefined);
  if (isPlaneUri(uri)) return { ...planeOf(uri, path), ...facts };
  const store = stats && (await storeFolder(path, stats));
  if (store !== undefined) return { ...storeAt(store), name: store === resolve(path) ? name : basename(store) };
  return {
    uri,
    name,
    sizeBytes: stats?.isFile() ? (member?.length ?? stats.size) : 0,
    named: false,
    ...(stats?.isFile() && { version: localVersion(stats) }),
    ...(facts && { version: facts.version, isStated: true as const }),
  };
}

/**
 * The longest part of a path that is a folder, and the rest: brackets in the name of a real folder are not a pattern.
 */
async function splitAtExisting(path: string): Promise<{ folder: string; rest: string }> {
  const parts = path.split('/').slice(1);
  let folder = '/';
  while (parts.length > 1 && (await statOf(join(folder, parts[0]!)))?.isDirectory())
    folder = join(folder, parts.shift()!);
  return { folder, rest: parts.join('/') };
}

/**
 * Undefined if there is nothing, or a symbolic link to nothing. Rejects with SourceNotFoundError if that cannot be
 * told.
 */
async function statOf(path: string): Promise<Stats | undefined> {
  try {
    return await quickFiles.stat(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // A glob may be longer than any name, as a list of names in braces is.
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ENAMETOOLONG') return undefined;
    throw new SourceNotFoundError(`'${path}' cannot be reached: ${message}`);
  }
}
