import { InputError } from '../input-error.ts';
import { pathOfKey } from './path-of-key.ts';

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
}

/** How buckets are reached, from the environment variables that all S3 programs read. */
export interface S3Settings {
  /** Undefined: Amazon's, in the region. */
  endpoint: URL | undefined;
  region: string;
  /** Undefined: not in variables (see findCredentials). */
  credentials: S3Credentials | undefined;
}

/** Throws InputError; the message has no secret in it. */
export function s3Settings(env: Record<string, string | undefined>): S3Settings {
  const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL;
  if (endpoint && !(URL.canParse(endpoint) && /^https?:$/.test(new URL(endpoint).protocol))) {
    throw new InputError('read', `Expected an http: or https: URL in AWS_ENDPOINT_URL but it holds '${endpoint}'`);
  }
  const accessKeyId = env.AWS_ACCESS_KEY_ID;
  const secretAccessKey = env.AWS_SECRET_ACCESS_KEY;
  if (!accessKeyId !== !secretAccessKey) {
    const missing = accessKeyId ? 'AWS_SECRET_ACCESS_KEY' : 'AWS_ACCESS_KEY_ID';
    throw new InputError('read', `Only one half of the S3 credentials is there: ${missing} is not set`);
  }
  const sessionToken = env.AWS_SESSION_TOKEN || undefined;
  return {
    endpoint: endpoint ? new URL(endpoint) : undefined,
    region: env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1',
    credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey, sessionToken } : undefined,
  };
}

/** The URL of an object, or of the bucket if the key is empty. */
export function objectUrl({ endpoint, region }: S3Settings, bucket: string, key: string): URL {
  const path = pathOfKey(key);
  if (endpoint) return new URL(`${endpoint.origin}${endpoint.pathname.replace(/\/$/, '')}/${bucket}/${path}`);
  const domain = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  // No certificate covers a bucket whose name has a dot or capital letters.
  const inHost = /^[a-z0-9-]+$/.test(bucket);
  return new URL(inHost ? `https://${bucket}.${domain}/${path}` : `https://${domain}/${bucket}/${path}`);
}
