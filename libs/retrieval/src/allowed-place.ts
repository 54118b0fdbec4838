import { allowedPath } from '@halogrid/sources';
import { isBucketUri } from '@halogrid/sources/prefix-uri';

/** As allowedPath, for a path or an s3: URI: objects may be read wherever the credentials allow. */
export const allowedPlace = async (at: string): Promise<string> => (isBucketUri(at) ? at : allowedPath(at));
