import { redactUri } from '../access/redact-uri.ts';
import { splitPart } from '../part-uri.ts';
import { SourceUriError } from '../source-errors.ts';

/** Stores of objects: Amazon's S3 and others of its kind, Google Cloud Storage, Azure Blob Storage. */
export type BucketScheme = 's3' | 'gs' | 'az';

/** An object. Azure calls buckets containers. */
export interface BucketUri {
  scheme: BucketScheme;
  bucket: string;
  key: string;
}

/**
 * A file on a web server, or an object in a bucket (or a prefix of the names of several). `part`: the fragment that
 * names a part of it.
 */
export type RemoteUri = ({ scheme: 'http'; url: URL } | BucketUri) & { part?: string };

/** Whether a text begins like the URI of a file on a server or in a bucket. */
export function isRemoteUri(uri: string): boolean {
  return /^(https?|s3|gs|az):\/\//i.test(uri);
}

/**
 * Reads an http:, https:, s3:, gs: or az: URI. The text behind s3://BUCKET/ is the key as it is, without escapes.
 * Throws SourceUriError.
 */
export function parseRemoteUri(text: string): RemoteUri {
  const [uri, part] = splitPart(text);
  if (!/^https?:/i.test(uri)) return { ...parseBucketUri(uri), part };
  if (!URL.canParse(uri)) throw new SourceUriError(`'${redactUri(uri)}' is not a URI`);
  const url = new URL(uri);
  // The password would appear in results, so it is refused; nor does the message have it.
  if (url.username || url.password) {
    throw new SourceUriError(`A URI with a user name or password is not supported: that of a file at '${url.host}'`);
  }
  url.hash = '';
  return { scheme: 'http', url, part };
}

/** The URI in its canonical form. */
export function formatRemoteUri(uri: RemoteUri): string {
  return (uri.scheme === 'http' ? uri.url.href : `${uri.scheme}://${uri.bucket}/${uri.key}`) + (uri.part ?? '');
}

/** The URI for messages. */
export function displayUri(uri: RemoteUri): string {
  return redactUri(formatRemoteUri(uri));
}

function parseBucketUri(uri: string): BucketUri {
  const [, scheme = 's3', bucket, key = ''] = /^([a-z][a-z0-9]):\/\/([^/]*)(?:\/(.*))?$/is.exec(uri) ?? [];
  // Names of older buckets and of other makers pass, too. Other characters are refused, because the name may become
  // part of a host's name.
  if (!bucket || !/^[a-z0-9][a-z0-9._-]{1,254}$/i.test(bucket)) {
    throw new SourceUriError(`Expected ${scheme.toLowerCase()}://BUCKET/KEY but received '${redactUri(uri)}'`);
  }
  if (!key.isWellFormed()) throw new SourceUriError(`'${redactUri(uri)}' is not well-formed Unicode`);
  if (key.split('/').some((part) => part === '.' || part === '..')) {
    throw new SourceUriError(`'${redactUri(uri)}' has '.' or '..' as a part, which URLs of objects cannot carry`);
  }
  return { scheme: scheme.toLowerCase() as BucketScheme, bucket, key };
}
