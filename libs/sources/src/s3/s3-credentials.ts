import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { InputError } from '../input-error.ts';
import type { S3Credentials, S3Settings } from './s3-settings.ts';

type Environment = Record<string, string | undefined>;

/** Who gives credentials: it renews them before they end. Undefined credentials: there are none. */
type Provider = () => Promise<S3Credentials | undefined>;

/** Variables that say where credentials are. If none are there, that is an error. */
const saying = [
  'AWS_PROFILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
] as const;

/** After a search that found nothing, the next one is this much later: it asks a host that may not be there. */
const searchesAgainMs = 300_000;

/** The search in use, and the variables that it began with. */
let search: { of: string; credentials: Promise<Provider>; foundNothingMs: number } | undefined;

/**
 * The credentials of requests to S3, found as by AWS's own tools: in the environment or in profiles in ~/.aws, by a web
 * identity, or by the role of a container or an instance. Undefined: requests are not signed, as public buckets allow.
 * Rejects with InputError, without secrets.
 */
export async function findCredentials(
  { credentials, endpoint }: S3Settings,
  env: Environment = process.env,
): Promise<S3Credentials | undefined> {
  if (credentials) return credentials;
  const said = saying.find((name) => env[name]);
  if (!said && !mayHave(endpoint, env)) return undefined;
  const of = [...saying, 'AWS_SHARED_CREDENTIALS_FILE', 'AWS_CONFIG_FILE'].map((name) => env[name]).join('\n');
  if (search?.of !== of) search = { of, credentials: openChain(), foundNothingMs: Number.NEGATIVE_INFINITY };
  if (!said && performance.now() - search.foundNothingMs < searchesAgainMs) return undefined;
  try {
    return await (await search.credentials)();
  } catch (error) {
    if (said) throw new InputError('read', `The S3 credentials that ${said} names are not there: ${reasonOf(error)}`);
    search.foundNothingMs = performance.now();
    return undefined;
  }
}

/**
 * Whether a search may find something: there are profiles, or the bucket is Amazon's, so that this machine may have a
 * role. Loading the search takes 200 ms (measured).
 */
function mayHave(endpoint: URL | undefined, env: Environment): boolean {
  const home = env.HOME || homedir();
  const files = [
    env.AWS_SHARED_CREDENTIALS_FILE || join(home, '.aws', 'credentials'),
    env.AWS_CONFIG_FILE || join(home, '.aws', 'config'),
  ];
  if (files.some((file) => existsSync(file))) return true;
  if (/^true$/i.test(env.AWS_EC2_METADATA_DISABLED ?? '')) return false;
  return endpoint === undefined || /\.amazonaws\.com(\.cn)?$/.test(endpoint.hostname);
}

/** Loaded only where it is needed. It keeps what it found until that ends. */
async function openChain(): Promise<Provider> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  return defaultProvider();
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
