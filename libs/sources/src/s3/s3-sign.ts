import { AwsV4Signer } from 'aws4fetch';
import type { S3Settings } from './s3-settings.ts';

/** SHA-256 of nothing, the body of a GET request. */
const emptySha256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** Keys that were derived from the secret for a day and region, so that a signature takes one HMAC and not five. */
const derivedKeys = new Map<string, ArrayBuffer>();

/** The headers of a GET request to S3, with a signature (version 4) for now if there are credentials. */
export async function signS3(
  url: URL,
  headers: Record<string, string>,
  { credentials, region }: S3Settings,
): Promise<Record<string, string>> {
  if (!credentials) return headers;
  const signer = new AwsV4Signer({
    ...credentials,
    method: 'GET',
    url: url.href,
    headers: { ...headers, 'x-amz-content-sha256': emptySha256 },
    service: 's3',
    region,
    cache: derivedKeys,
  });
  return Object.fromEntries((await signer.sign()).headers);
}
