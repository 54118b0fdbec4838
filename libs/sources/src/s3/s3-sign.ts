import { hash } from 'node:crypto';
import { AwsV4Signer } from 'aws4fetch';
import type { S3Credentials } from './s3-settings.ts';

/** A request to S3, and the credentials that it is signed with. */
export interface S3Request {
  method: string;
  url: URL;
  headers: Record<string, string>;
  /** Its hash is signed, so that the server finds out if it was damaged on its way. */
  body?: Uint8Array | undefined;
}

/** Keys that were derived from the secret for a day and region, so that a signature takes one HMAC and not five. */
const derivedKeys = new Map<string, ArrayBuffer>();

/** The headers of a request, with a signature (version 4) for now if there are credentials. */
export async function signS3(
  { method, url, headers, body }: S3Request,
  credentials: S3Credentials | undefined,
  region: string,
): Promise<Record<string, string>> {
  if (!credentials) return headers;
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const sha256 = hash('sha256', body ?? '', 'hex');
  const signer = new AwsV4Signer({
    accessKeyId,
    secretAccessKey,
    sessionToken,
    method,
    url: url.href,
    headers: { ...headers, 'x-amz-content-sha256': sha256 },
    service: 's3',
    region,
    cache: derivedKeys,
  });
  return Object.fromEntries((await signer.sign()).headers);
}
