import { splitMember } from './member-uri.ts';
import { parsePlaneUri } from './plane-uri.ts';
import { splitRow } from './row-uri.ts';

/**
 * The URI of a file, and the fragment that names a part of it, with its '#': a member of a tar, a row of a Parquet
 * file, or a plane of a Zarr. '' if the URI names the whole file. No request has a fragment, and other file: URIs have
 * none.
 */
export function splitPart(uri: string): [file: string, part: string] {
  // Few URIs have one, and millions are asked for.
  if (!uri.includes('#')) return [uri, ''];
  const file = parsePlaneUri(uri)?.file ?? holderOf(uri);
  return [file, uri.slice(file.length)];
}

/** The URI of the file that holds the bytes: for a member its tar, for a row its Parquet file, for others itself. */
export function holderOf(uri: string): string {
  if (!uri.includes('#')) return uri;
  const { file, member } = splitMember(uri);
  return member ? file : splitRow(uri).file;
}

/** The folder of the file that holds the bytes. */
export function folderHolding(uri: string): string {
  const file = holderOf(uri);
  return file.slice(0, Math.max(0, file.lastIndexOf('/')));
}

/** The path that a member or a row has in its file; undefined for others, and for a row without one. */
export function pathInHolder(uri: string): string | undefined {
  if (!uri.includes('#')) return undefined;
  return splitMember(uri).member?.name ?? splitRow(uri).row?.path;
}
