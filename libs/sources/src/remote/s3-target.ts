import { findCredentials } from '../s3/s3-credentials.ts';
import { objectUrl, type S3Settings, s3Settings } from '../s3/s3-settings.ts';
import type { RemoteTarget } from './target.ts';

/** An object, or with a query, what a bucket says about its objects. Throws InputError if the settings are wrong. */
export function s3Target(bucket: string, key: string, query: Record<string, string>): RemoteTarget {
  const { settings, url } = s3Place(bucket, key, query);
  return {
    uri: `s3://${bucket}/${key}`,
    place: `s3://${bucket}`,
    followsRedirects: false,
    // Signing and XML are loaded only for S3: they take 30 ms of a start (measured).
    async request(headers) {
      const { signS3 } = await import('../s3/s3-sign.ts');
      const credentials = await findCredentials(settings);
      return { url, headers: await signS3({ method: 'GET', url, headers }, credentials, settings.region) };
    },
    async explain(status, headers, body) {
      const { explainS3Refusal } = await import('../s3/s3-refusal.ts');
      const isSigned = (await findCredentials(settings)) !== undefined;
      return explainS3Refusal({ bucket, key, region: settings.region, isSigned }, status, headers, body);
    },
  };
}

/** Where an object or, with a query, something about a bucket is asked for. Throws InputError as s3Settings does. */
export function s3Place(
  bucket: string,
  key: string,
  query: Record<string, string>,
): { settings: S3Settings; url: URL } {
  const settings = s3Settings(process.env);
  const url = objectUrl(settings, bucket, key);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return { settings, url };
}
