import { createReadStream } from 'node:fs';
import { basename, posix } from 'node:path';
import { Readable } from 'node:stream';
import { mapAhead } from '@halogrid/threads';
import { checkHost } from '../access/allowed-host.ts';
import { SourceForbiddenError } from '../access/source-access.ts';
import { hasImageExtension, holdsSources, usualExtensions } from '../formats.ts';
import { globOf } from '../globs/glob-selection.ts';
import { imagesBelow, isHidden, type PassedOver } from '../globs/selection.ts';
import { InputError } from '../input-error.ts';
import { splitMember } from '../member-uri.ts';
import { pathInHolder } from '../part-uri.ts';
import { isPlaneUri } from '../plane-uri.ts';
import { type Probe, probe } from '../remote/probe.ts';
import { RemoteFile } from '../remote/remote-file.ts';
import { remoteTarget } from '../remote/remote-target.ts';
import {
  type BucketUri,
  displayUri,
  formatRemoteUri,
  isRemoteUri,
  parseRemoteUri,
  type RemoteUri,
} from '../remote/remote-uri.ts';
import { SourceNotFoundError, SourceUriError } from '../source-errors.ts';
import { surelyVersionName } from '../version-name.ts';
import { folderOfMetadata, isStoreName, nameOfPlane } from '../zarr/store-name.ts';
import { filtered, type ListingOptions, takesPath } from './filtered.ts';
import type { FoundFile } from './found-file.ts';
import { type ManifestRow, rowFacts } from './manifest-row.ts';
import { lineRows, type ManifestKind, manifestKind } from './manifest-rows.ts';
import { noneOf } from './none-of.ts';
import { walkBucket } from './s3-folder.ts';
import type { Source } from './source.ts';

/** The most sizes of a manifest's entries that are requested at once. */
const sizesAhead = 32;

/**
 * The inputs that an http:, https:, s3:, gs: or az: URI stands for:
 *
 * - a file or an object: itself;
 * - one whose name ends in .txt: a manifest, a URI or a path relative to it a line; in .jsonl, .ndjson or .parquet: one
 *   with more than names;
 * - in a bucket, if there is no object of that name: the images in the folder of that name and below, a prefix of keys
 *   with '/' between folders; or the objects that a glob matches. Both in natural order.
 *
 * Throws SourceNotFoundError if there is no input at all, and InputError if the host is away. Files that the server
 * does not show are listed, and opening them gives the reason.
 */
export async function* listRemote(text: string, options: ListingOptions): AsyncGenerator<Source[]> {
  try {
    const uri = parseRemoteUri(text);
    const entry = remoteEntry(text);
    if (isPlaneUri(text) || entry.isStore) {
      if (takesPath(entry.name, options)) yield [entry];
      return;
    }
    if (uri.scheme !== 'http' && (uri.key === '' || uri.key.endsWith('/'))) return yield* listFolder(uri, options);
    const found = await probe(remoteTarget(text));
    if (found.kind === 'missing') {
      if (uri.scheme !== 'http') return yield* listOthers(uri, options);
      throw new SourceNotFoundError(`'${displayUri(uri)}' does not exist: ${found.sentence}`);
    }
    const kind = await manifestAt(text, options);
    if (kind) yield* withRemoteSizes(listManifest(uri, kind, options), options);
    else if (found.kind === 'unknown' && uri.scheme !== 'http' && isGlob(uri.key)) yield* listOthers(uri, options);
    // The filter chooses among what is in a tar or a Parquet file.
    else if (holdsSources(entry.name) || takesPath(entry.name, options))
      yield [{ ...entry, ...factsOf(found), ...memberSize(text), named: !uri.part }];
  } catch (error) {
    if (error instanceof SourceForbiddenError || isAway(error)) throw error;
    const isWrong = error instanceof InputError || error instanceof SourceUriError;
    throw isWrong ? new SourceNotFoundError(error.message) : error;
  }
}

/** The kind of manifest at a URI, if it is one: a Parquet file may hold images instead. */
async function manifestAt(text: string, options: ListingOptions): Promise<ManifestKind | undefined> {
  const uri = parseRemoteUri(text);
  const kind = uri.part ? undefined : manifestKind(pathOf(uri));
  if (kind !== 'parquet') return kind;
  const { isParquetManifest } = await import('./parquet/parquet-sources.ts');
  try {
    return (await isParquetManifest(text, options)) ? kind : undefined;
  } catch (error) {
    if (!(error instanceof InputError) || error.stage === 'read') throw error;
    throw new SourceNotFoundError(`'${displayUri(uri)}': ${error.message}`);
  }
}

const isAway = (error: unknown): boolean => error instanceof InputError && error.fault === 'away';

function memberSize(uri: string): { sizeBytes?: number } {
  const { member } = splitMember(uri);
  return member ? { sizeBytes: member.length } : {};
}

/** The source of a manifest's line; its size is not known yet. */
export function remoteEntry(line: string): Source {
  try {
    const uri = parseRemoteUri(line);
    if (uri.scheme === 'http') checkHost(uri.url);
    const path = pathOf(uri);
    if (isPlaneUri(line))
      return { uri: formatRemoteUri(uri), name: nameOfPlane(line, path), sizeBytes: 0, named: false };
    if (isStorePath(path) && !isGlob(path)) return storeAt(uri);
    const name = basename(path) || (uri.scheme === 'http' ? uri.url.hostname : uri.bucket);
    return { uri: formatRemoteUri(uri), name, sizeBytes: 0, ...memberSize(line), named: false };
  } catch (error) {
    if (!(error instanceof SourceUriError || error instanceof SourceForbiddenError)) throw error;
    return { uri: line, name: basename(line), sizeBytes: 0, named: false, error: error.message };
  }
}

/** Whether a path on a server stands for a Zarr or a folder in one. */
function isStorePath(path: string): boolean {
  const names = path.split('/').filter((name) => name !== '');
  const last = names.at(-1) ?? '';
  return names.some(isStoreName) && (isStoreName(last) || !hasImageExtension(last));
}

/** The Zarr that a folder, or a file of metadata in it, stands for. */
function storeAt(uri: RemoteUri): Source {
  if ('key' in uri) uri.key = folderOfMetadata(uri.key);
  else uri.url.pathname = folderOfMetadata(uri.url.pathname);
  return { uri: formatRemoteUri(uri), name: basename(pathOf(uri)), sizeBytes: 0, named: false, isStore: true };
}

/** The same inputs in the same order; inputs on servers have sizes if these can be told. */
export async function* withRemoteSizes(
  chunks: AsyncIterable<Source[]>,
  { isSorted = true }: ListingOptions,
): AsyncGenerator<Source[]> {
  // A caller that does not need the order does not need sizes either.
  if (!isSorted) return yield* chunks;
  for await (const sources of chunks) {
    if (!sources.some(isUnsized)) yield sources;
    else for await (const source of mapAhead(sources, sizesAhead, withSize)) yield [source];
  }
}

/** Sources whose size a server is asked for. */
const isUnsized = ({ sizeBytes, error, uri, isStore }: Source): boolean =>
  sizeBytes === 0 && !error && !isStore && !isPlaneUri(uri) && isRemoteUri(uri);

async function withSize(input: Source): Promise<Source> {
  if (!isUnsized(input)) return input;
  try {
    const found = factsOf(await probe(remoteTarget(input.uri)));
    return { ...input, ...found, ...(input.isStated && { version: input.version }) };
  } catch (error) {
    // Opening it gives the same error.
    if (error instanceof InputError) return input;
    throw error;
  }
}

function factsOf(found: Probe): Pick<Source, 'sizeBytes' | 'version'> {
  if (found.kind !== 'found') return { sizeBytes: 0 };
  const version = surelyVersionName(found.version);
  return { sizeBytes: found.version.sizeBytes ?? 0, ...(version && { version }) };
}

const isGlob = (key: string): boolean => /[*?[{]/.test(key);

/** The inputs in the folder or glob that a key stands for if it is not an object. */
function listOthers(uri: BucketUri, options: ListingOptions): AsyncGenerator<Source[]> {
  return isGlob(uri.key) ? listGlob(uri, options) : listFolder({ ...uri, key: `${uri.key}/` }, options, uri);
}

/** `asked`: what was asked for, if it may not exist. */
async function* listFolder(uri: BucketUri, options: ListingOptions, asked?: BucketUri): AsyncGenerator<Source[]> {
  let objects = 0;
  let leftOut = 0;
  const onPassedOver = (passed: PassedOver): void => {
    if (passed.isFiltered) leftOut++;
    else if (!passed.isFolder && !isHidden(basename(passed.path))) objects++;
    options.onPassedOver?.(passed);
  };
  const selection = filtered(imagesBelow, options.filter);
  const found = yield* sourcesOf(uri, walkBucket(uri, selection, { ...options, onPassedOver }));
  if (found + leftOut > 0) return;
  if (asked && objects === 0) throw new SourceNotFoundError(`'${displayUri(asked)}' does not exist`);
  const others =
    objects === 0
      ? 'it has no objects'
      : `${noneOf(objects, 'object')} the extension of an image or video: ${usualExtensions}`;
  throw new SourceNotFoundError(`'${displayUri(uri)}' holds no images: ${others}`);
}

async function* listGlob(uri: BucketUri, options: ListingOptions): AsyncGenerator<Source[]> {
  const fixed = uri.key.slice(0, uri.key.search(/[*?[{]/));
  const folder = fixed.slice(0, fixed.lastIndexOf('/') + 1);
  const selection = filtered(globOf(uri.key.slice(folder.length), displayUri(uri)), options.filter);
  let leftOut = 0;
  const onPassedOver = (passed: PassedOver): void => {
    leftOut++;
    options.onPassedOver?.(passed);
  };
  const walk = walkBucket({ ...uri, key: folder }, selection, { ...options, onPassedOver });
  const found = yield* sourcesOf({ ...uri, key: folder }, walk);
  if (found + leftOut === 0) throw new SourceNotFoundError(`No object matches '${displayUri(uri)}'`);
}

/** Returns the number of sources. */
async function* sourcesOf(
  { scheme, bucket, key }: BucketUri,
  chunks: AsyncIterable<readonly FoundFile[]>,
): AsyncGenerator<Source[], number, undefined> {
  let found = 0;
  for await (const files of chunks) {
    found += files.length;
    yield files.map((file) => ({ uri: `${scheme}://${bucket}/${key}${file.name}`, named: false, ...file }));
  }
  return found;
}

async function* listManifest(
  manifest: RemoteUri,
  kind: ManifestKind,
  options: ListingOptions,
): AsyncGenerator<Source[]> {
  let found = 0;
  const file = await RemoteFile.open(formatRemoteUri(manifest)).catch((error: unknown) => {
    if (!(error instanceof InputError) || isAway(error)) throw error;
    throw new SourceNotFoundError(`The manifest '${displayUri(manifest)}' cannot be read: ${error.message}`);
  });
  try {
    for await (const rows of rowsOf(await file.whole(), kind, displayUri(manifest))) {
      found += rows.length;
      const taken = rows.filter(({ error, text }) => error || takesPath(text, options));
      yield taken.map((row) => manifestEntry(row, manifest));
    }
  } finally {
    await file.close();
  }
  if (found === 0) throw new SourceNotFoundError(`The manifest '${displayUri(manifest)}' names no images`);
}

/** `content`: the path of a copy, or bytes. */
async function* rowsOf(content: string | Buffer, kind: ManifestKind, name: string): AsyncGenerator<ManifestRow[]> {
  if (kind !== 'parquet') {
    return yield* lineRows(typeof content === 'string' ? createReadStream(content) : Readable.from([content]), kind);
  }
  const { openParquet, parquetRows } = await import('./parquet/parquet-rows.ts');
  yield* parquetRows(await openParquet(content), name);
}

function manifestEntry(row: ManifestRow, manifest: RemoteUri): Source {
  const { text: line, error } = row;
  if (error) return { uri: line, name: basename(line), sizeBytes: 0, named: false, error };
  if (isRemoteUri(line)) return { ...remoteEntry(line), ...rowFacts(row, false) };
  if (/^[a-z][a-z0-9+.-]*:/i.test(line)) {
    const error = 'A manifest on a server names files on servers only';
    return { uri: line, name: basename(line), sizeBytes: 0, named: false, error };
  }
  return { ...remoteEntry(besideManifest(line, manifest)), ...rowFacts(row, false) };
}

function besideManifest(line: string, manifest: RemoteUri): string {
  if (manifest.scheme !== 'http') {
    const key = line.startsWith('/') ? line : posix.join('/', posix.dirname(manifest.key), line);
    return `${manifest.scheme}://${manifest.bucket}${key}`;
  }
  return URL.canParse(line, manifest.url.href) ? new URL(line, manifest.url).href : line;
}

/** The part of a URI that names a file. */
function pathOf(uri: RemoteUri): string {
  const inHolder = pathInHolder(formatRemoteUri(uri));
  if (inHolder !== undefined) return inHolder;
  if (uri.scheme !== 'http') return uri.key;
  try {
    return decodeURIComponent(uri.url.pathname);
  } catch {
    return uri.url.pathname;
  }
}
