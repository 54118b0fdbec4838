import { gsEndpoint, gsUrl } from '../gs/gs-settings.ts';
import type { RemoteTarget } from './target.ts';
import { withToken } from './with-token.ts';

/**
 * An object of Google Cloud Storage, or with a query, what a bucket says about its objects. Its XML API answers as S3
 * does. Throws InputError if the settings are wrong.
 */
export function gsTarget(bucket: string, key: string, query: Record<string, string>): RemoteTarget {
  const { endpoint } = gsEndpoint(process.env);
  const url = gsUrl(endpoint, bucket, key);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  let isSigned = false;
  return {
    uri: `gs://${bucket}/${key}`,
    place: `gs://${bucket}`,
    followsRedirects: false,
    // Loaded only for these buckets, as for S3.
    async request(headers) {
      const { findGsToken } = await import('../gs/gs-token.ts');
      const signed = await withToken(findGsToken, headers);
      isSigned = signed !== headers;
      return { url, headers: signed };
    },
    async explain(status, headers, body) {
      const { explainS3Refusal } = await import('../s3/s3-refusal.ts');
      return explainS3Refusal({ bucket, key, isSigned }, status, headers, body);
    },
  };
}
