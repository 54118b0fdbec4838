import { redactUri } from '../access/redact-uri.ts';
import { splitSelector } from '../plane-uri.ts';
import { SourceUriError } from '../source-errors.ts';

/** A file on a web server, or an object in a bucket (or a prefix of the names of several). */
export type RemoteUri = { scheme: 'http'; url: URL } | { scheme: 's3'; bucket: string; key: string };

/** Whether a text begins like an http:, https: or s3: URI. */
export function isRemoteUri(uri: string): boolean {
  return /^(https?|s3):\/\//i.test(uri);
}

/**
 * Reads an http:, https: or s3: URI. The text behind s3://BUCKET/ is the key as it is, without escapes. What selects a
 * plane of a Zarr is left out. Throws SourceUriError.
 */
export function parseRemoteUri(given: string): RemoteUri {
  const [uri] = splitSelector(given);
  if (/^s3:/i.test(uri)) return parseS3(uri);
  if (!URL.canParse(uri)) throw new SourceUriError(`'${redactUri(uri)}' is not a URI`);
  const url = new URL(uri);
  // The password would appear in results, so it is refused; nor does the message have it.
  if (url.username || url.password) {
    throw new SourceUriError(`A URI with a user name or password is not supported: that of a file at '${url.host}'`);
  }
  url.hash = '';
  return { scheme: 'http', url };
}

/** The URI in its canonical form. */
export function formatRemoteUri(uri: RemoteUri): string {
  return uri.scheme === 'http' ? uri.url.href : `s3://${uri.bucket}/${uri.key}`;
}

/** The URI for messages. */
export function displayUri(uri: RemoteUri): string {
  return redactUri(formatRemoteUri(uri));
}

function parseS3(uri: string): RemoteUri {
  const [, bucket, key = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/is.exec(uri) ?? [];
  // Names of older buckets and of other makers pass, too. Other characters are refused, because the name may become
  // part of a host's name.
  if (!bucket || !/^[a-z0-9][a-z0-9._-]{1,254}$/i.test(bucket)) {
    throw new SourceUriError(`Expected s3://BUCKET/KEY but received '${redactUri(uri)}'`);
  }
  if (!key.isWellFormed()) throw new SourceUriError(`'${redactUri(uri)}' is not well-formed Unicode`);
  if (key.split('/').some((part) => part === '.' || part === '..')) {
    throw new SourceUriError(`'${redactUri(uri)}' has '.' or '..' as a part, which URLs of objects cannot carry`);
  }
  return { scheme: 's3', bucket, key };
}
