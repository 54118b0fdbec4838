import { azTarget } from './az-target.ts';
import { gsTarget } from './gs-target.ts';
import type { BucketScheme } from './remote-uri.ts';
import { s3Target } from './s3-target.ts';
import type { RemoteTarget } from './target.ts';

/**
 * How to request an object, by the scheme of its URI; or with a query, what a bucket says about its objects. Throws
 * InputError if the settings are wrong.
 */
export const bucketTarget: Record<
  BucketScheme,
  (bucket: string, key: string, query: Record<string, string>) => RemoteTarget
> = { s3: s3Target, gs: gsTarget, az: azTarget };
