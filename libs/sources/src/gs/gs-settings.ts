import { InputError } from '../input-error.ts';
import { pathOfKey } from '../s3/path-of-key.ts';

type Environment = Record<string, string | undefined>;

/** Where buckets of Google Cloud Storage are, or an emulator of it. Throws InputError. */
export function gsEndpoint(env: Environment): { endpoint: URL; isEmulator: boolean } {
  const host = env.STORAGE_EMULATOR_HOST;
  if (!host) return { endpoint: new URL('https://storage.googleapis.com'), isEmulator: false };
  const text = host.includes('://') ? host : `http://${host}`;
  if (!URL.canParse(text))
    throw new InputError('read', `Expected a host in STORAGE_EMULATOR_HOST but it holds '${host}'`);
  return { endpoint: new URL(text), isEmulator: true };
}

/** The URL of an object in Google's XML API, or of the bucket if the key is empty. */
export const gsUrl = (endpoint: URL, bucket: string, key: string): URL =>
  new URL(`${endpoint.origin}/${bucket}/${pathOfKey(key)}`);
