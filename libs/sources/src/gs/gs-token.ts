import { sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { askToken, type Token } from '../tokens/ask-token.ts';
import { KeptToken } from '../tokens/kept-token.ts';
import { TokenError } from '../tokens/token-error.ts';
import { gsEndpoint } from './gs-settings.ts';

type Environment = Record<string, string | undefined>;

const kept = new KeptToken();

/** The metadata server of a machine at Google answers within milliseconds. */
const metadataTimeoutMs = 3_000;
const scope = 'https://www.googleapis.com/auth/devstorage.read_only';
const usualTokenUrl = 'https://oauth2.googleapis.com/token';

/**
 * The token of requests to Google Cloud Storage, found as by Google's own tools (Application Default Credentials): in
 * the file that a variable names, in the file of `gcloud auth application-default login`, or for the service account of
 * this machine. Undefined: requests have none, as public buckets allow. Rejects with TokenError, without secrets.
 */
export async function findGsToken(env: Environment = process.env): Promise<string | undefined> {
  const named = env.GOOGLE_APPLICATION_CREDENTIALS;
  const { isEmulator } = gsEndpoint(env);
  // An emulator knows no accounts.
  if (isEmulator && !named) return undefined;
  const folder = env.CLOUDSDK_CONFIG || join(env.HOME || homedir(), '.config', 'gcloud');
  const of = [named, folder, env.GCE_METADATA_HOST, env.NO_GCE_CHECK].join('\n');
  return await kept.get(of, async () => {
    if (named)
      return await tokenOfFile(named, (error) => {
        throw new TokenError(
          `The file '${named}' that GOOGLE_APPLICATION_CREDENTIALS names cannot be read (${error.code})`,
        );
      });
    const usual = join(folder, 'application_default_credentials.json');
    return (await tokenOfFile(usual, () => undefined)) ?? (await tokenOfMachine(env));
  });
}

/** `missing` is called if the file cannot be read. */
async function tokenOfFile(
  path: string,
  missing: (error: NodeJS.ErrnoException) => undefined,
): Promise<Token | undefined> {
  const text = await readFile(path, 'utf8').catch(missing);
  if (text === undefined) return undefined;
  const key = asObject(text);
  if (key.type === 'service_account') return await askToken(assertionOf(key, path));
  if (key.type === 'authorized_user') {
    const { client_id = '', client_secret = '', refresh_token = '' } = key;
    const form = { grant_type: 'refresh_token', client_id, client_secret, refresh_token };
    return await askToken({ url: key.token_uri ?? usualTokenUrl, form });
  }
  const type = key.type ? `credentials of the type '${key.type.slice(0, 40)}'` : 'no credentials';
  throw new TokenError(`The file '${path}' has ${type}: service_account and authorized_user are supported`);
}

/** The request of a service account: a statement that it signs itself (RFC 7523). */
function assertionOf({ client_email, private_key, private_key_id, token_uri }: Record<string, string>, path: string) {
  const url = token_uri ?? usualTokenUrl;
  const now = Math.floor(Date.now() / 1000);
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = encode({ alg: 'RS256', typ: 'JWT', kid: private_key_id });
  const text = `${head}.${encode({ iss: client_email, scope, aud: url, iat: now, exp: now + 3600 })}`;
  let signature: Buffer;
  try {
    signature = sign('RSA-SHA256', Buffer.from(text), private_key ?? '');
  } catch {
    throw new TokenError(`The file '${path}' has no private key that can sign`);
  }
  const assertion = `${text}.${signature.toString('base64url')}`;
  return { url, form: { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion } };
}

/** Undefined if this machine is not at Google, or has no service account. */
async function tokenOfMachine({ GCE_METADATA_HOST: named, NO_GCE_CHECK }: Environment): Promise<Token | undefined> {
  if (!named && /^(1|true)$/i.test(NO_GCE_CHECK ?? '')) return undefined;
  const path = 'computeMetadata/v1/instance/service-accounts/default/token';
  const url = `http://${named || 'metadata.google.internal'}/${path}`;
  const asked = askToken({ url, headers: { 'metadata-flavor': 'Google' }, timeoutMs: metadataTimeoutMs });
  return await asked.catch((error: unknown) => {
    if (named || !(error instanceof TokenError)) throw error;
    return undefined;
  });
}

/** The texts of a JSON object; nothing if it is not one. */
function asObject(text: string): Record<string, string> {
  try {
    const value: unknown = JSON.parse(text);
    const texts = Object.entries(value instanceof Object ? value : {}).filter(([, one]) => typeof one === 'string');
    return Object.fromEntries(texts);
  } catch {
    return {};
  }
}
