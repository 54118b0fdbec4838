import { splitMember } from './member-uri.ts';
import { parsePlaneUri } from './plane-uri.ts';

/**
 * The URI of a file, and the fragment that names a part of it, with its '#': a member of a tar, or a plane of a Zarr.
 * '' if the URI names the whole file. No request has a fragment, and other file: URIs have none.
 */
export function splitPart(uri: string): [file: string, part: string] {
  // Few URIs have one, and millions are asked for.
  if (!uri.includes('#')) return [uri, ''];
  const file = parsePlaneUri(uri)?.file ?? splitMember(uri).file;
  return [file, uri.slice(file.length)];
}
