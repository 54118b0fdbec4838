import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBucketUri, toPrefixUri } from '@halogrid/sources/prefix-uri';
import { BucketPlace } from './bucket-place.ts';
import { FolderPlace } from './folder-place.ts';
import type { Place } from './place.ts';

/** The place at a path, or at an s3: URI. Throws SourceUriError for a URI that could not be a folder. */
export function placeAt(at: string): Place {
  if (!isBucketUri(at)) return new FolderPlace(resolve(at));
  const [, bucket = '', key = ''] = /^s3:\/\/([^/]+)(?:\/(.+))?$/s.exec(toPrefixUri(at))!;
  return new BucketPlace(bucket, key);
}

/** The place of a file: or s3: URI. Throws as placeAt does, and TypeError for a file: URI that no path has. */
export const placeOfUri = (uri: string): Place => placeAt(isBucketUri(uri) ? uri : fileURLToPath(uri));

export { type Place, type PlacedFile, type PlaceEntry, PlaceError, type StoredFile } from './place.ts';
