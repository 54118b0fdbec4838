import { readFile } from 'node:fs/promises';
import { askToken, type Token } from '../tokens/ask-token.ts';
import { KeptToken } from '../tokens/kept-token.ts';
import { TokenError } from '../tokens/token-error.ts';
import type { AzSettings } from './az-settings.ts';

type Environment = Record<string, string | undefined>;

const kept = new KeptToken();

/** The metadata server of a machine at Azure answers within milliseconds. */
const metadataTimeoutMs = 3_000;
const resource = 'https://storage.azure.com/';

const settings = [
  'AZURE_TENANT_ID',
  'AZURE_CLIENT_ID',
  'AZURE_CLIENT_SECRET',
  'AZURE_FEDERATED_TOKEN_FILE',
  'AZURE_AUTHORITY_HOST',
  'IDENTITY_ENDPOINT',
  'IDENTITY_HEADER',
] as const;

/**
 * The token of requests to Azure Blob Storage that have neither a key nor a signature, found as by Azure's own
 * libraries: of a service principal, of a workload identity, or of the managed identity of this machine. Undefined:
 * requests have none, as public containers allow. Rejects with TokenError, without secrets.
 */
export async function findAzToken(
  { isUsual }: AzSettings,
  env: Environment = process.env,
): Promise<string | undefined> {
  const of = settings.map((name) => env[name]).join('\n');
  return await kept.get(of, async () => (await tokenOfClient(env)) ?? (await tokenOfMachine(env, isUsual)));
}

async function tokenOfClient(env: Environment): Promise<Token | undefined> {
  const { AZURE_TENANT_ID: tenant, AZURE_CLIENT_ID: client_id, AZURE_CLIENT_SECRET: secret } = env;
  const file = env.AZURE_FEDERATED_TOKEN_FILE;
  if (!tenant || !client_id || !(secret || file)) return undefined;
  const authority = (env.AZURE_AUTHORITY_HOST || 'https://login.microsoftonline.com').replace(/\/$/, '');
  const url = `${authority}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`;
  const form = { grant_type: 'client_credentials', client_id, scope: `${resource}.default` };
  if (secret) return await askToken({ url, form: { ...form, client_secret: secret } });
  const assertion = await readFile(file!, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    throw new TokenError(`The file '${file}' that AZURE_FEDERATED_TOKEN_FILE names cannot be read (${code})`);
  });
  const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  return await askToken({ url, form: { ...form, client_assertion_type, client_assertion: assertion.trim() } });
}

/** Undefined if this machine is not at Azure, or has no identity. */
async function tokenOfMachine(env: Environment, isUsual: boolean): Promise<Token | undefined> {
  const { IDENTITY_ENDPOINT: endpoint, IDENTITY_HEADER: secret, AZURE_CLIENT_ID: client_id } = env;
  const query = (version: string): string =>
    new URLSearchParams({ 'api-version': version, resource, ...(client_id && { client_id }) }).toString();
  if (endpoint && secret) {
    const asked = await askToken({
      url: `${endpoint}?${query('2019-08-01')}`,
      headers: { 'x-identity-header': secret },
    });
    // This service says when a token ends, not how long it is valid. It is asked for again when it is due.
    return { ...asked, seconds: asked.seconds || 600 };
  }
  if (!isUsual) return undefined;
  const url = `http://169.254.169.254/metadata/identity/oauth2/token?${query('2018-02-01')}`;
  const asked = askToken({ url, headers: { metadata: 'true' }, timeoutMs: metadataTimeoutMs });
  return await asked.catch((error: unknown) => {
    if (error instanceof TokenError) return undefined;
    throw error;
  });
}
