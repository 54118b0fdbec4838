import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { redactUri } from '../access/redact-uri.ts';
import { isBucketUri, toPrefixUri } from '../buckets/prefix-uri.ts';
import { splitPart } from '../part-uri.ts';
import { formatRemoteUri, isRemoteUri, parseRemoteUri } from '../remote/remote-uri.ts';
import { SourceUriError } from '../source-errors.ts';

/**
 * The absolute URI of a source: of a path (relative to `cwd`) or of a file:, http:, https:, s3:, gs: or az: URI, as a
 * person writes it. Glob characters stay as they are: `listSources` tells a glob from a name. Throws SourceUriError for
 * other schemes and for an invalid URI.
 */
export function toUri(pathOrUri: string, cwd: string): string {
  return isRemoteUri(pathOrUri)
    ? formatRemoteUri(parseRemoteUri(pathOrUri))
    : localUri(pathOrUri, cwd, 'a path, or a URI of file:, http:, https:, s3:, gs: or az:');
}

/** Throws SourceUriError unless the URI is one that toUri gives. */
export function checkSourceUri(uri: string): void {
  if (isRemoteUri(uri)) parseRemoteUri(uri);
  else if (!isFileUri(uri)) {
    throw new SourceUriError(
      `Expected an absolute path, or an absolute URI of file:, http:, https:, s3:, gs: or az:, but received '${redactUri(uri)}'`,
    );
  }
}

/** As toUri, for a source that must be on this machine. */
export function toFileUri(pathOrUri: string, cwd: string): string {
  return localUri(pathOrUri, cwd, 'a path or a file: URI');
}

/** As toUri, for an output: a folder of this machine, or a prefix of a bucket. */
export function toOutUri(pathOrUri: string, cwd: string): string {
  return isBucketUri(pathOrUri) ? toPrefixUri(pathOrUri) : localUri(pathOrUri, cwd, 'a path, or a URI of file: or s3:');
}

/** `allowed` says, in errors, what is expected. */
function localUri(pathOrUri: string, cwd: string, allowed: string): string {
  if (isDataUri(pathOrUri)) throw new SourceUriError(`A data: URI is not supported: expected ${allowed}`);
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(pathOrUri)?.[1]?.toLowerCase();
  if (!scheme) return pathToFileURL(resolve(cwd, pathOrUri)).href;
  if (scheme !== 'file') throw new SourceUriError(`'${redactUri(pathOrUri)}' is not supported: expected ${allowed}`);
  try {
    // Other fragments, and what looks like a query, are part of a glob or of a name.
    const [file, part] = splitPart(pathOrUri);
    return pathToFileURL(fileURLToPath(file.replaceAll('?', '%3F').replaceAll('#', '%23'))).href + part;
  } catch (error) {
    throw new SourceUriError(
      `'${redactUri(pathOrUri)}' is not the URI of a file on this machine: ${(error as Error).message}`,
    );
  }
}

/** A data: URI holds its own content (RFC 2397). It has no slashes that tell it from a name. */
const isDataUri = (text: string): boolean => /^data:[^,/]*(\/[^,/]*)?,/i.test(text);

function isFileUri(uri: string): boolean {
  try {
    fileURLToPath(uri);
    return true;
  } catch {
    return false;
  }
}
