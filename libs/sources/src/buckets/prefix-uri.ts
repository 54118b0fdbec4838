import { displayUri, isRemoteUri, parseRemoteUri } from '../remote/remote-uri.ts';
import { SourceUriError } from '../source-errors.ts';

/** Whether a text begins like an s3: URI. */
export const isBucketUri = (uri: string): boolean => /^s3:\/\//i.test(uri);

/**
 * The URI of a prefix as a person writes it, without a '/' at its end. Throws SourceUriError for a prefix that could
 * not be a folder.
 */
export function toPrefixUri(uri: string): string {
  const parsed = isRemoteUri(uri) ? parseRemoteUri(uri) : undefined;
  if (parsed?.scheme !== 's3') throw new SourceUriError(`Expected s3://BUCKET/PREFIX but received '${uri}'`);
  const { bucket, key } = parsed;
  const prefix = key.replace(/(?<=[^/])\/$/, '');
  if (key !== '' && prefix.split('/').includes('')) {
    throw new SourceUriError(`'${displayUri(parsed)}' has an empty name between two slashes`);
  }
  return prefix === '' ? `s3://${bucket}` : `s3://${bucket}/${prefix}`;
}
