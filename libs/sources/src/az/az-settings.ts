import { InputError } from '../input-error.ts';
import { pathOfKey } from '../s3/path-of-key.ts';

type Environment = Record<string, string | undefined>;

/** How containers of Azure Blob Storage are reached, from the variables that Azure's own tools read. */
export interface AzSettings {
  account: string;
  endpoint: URL;
  /** Whether the endpoint is Azure's, so that this machine may have an identity there. */
  isUsual: boolean;
  /** The account's key, base64. */
  key: string | undefined;
  /** A shared access signature: parameters of a query. */
  sas: string | undefined;
}

/** Throws InputError; the message has no secret in it. */
export function azSettings(env: Environment): AzSettings {
  const stated = partsOf(env.AZURE_STORAGE_CONNECTION_STRING ?? '');
  const account = stated.AccountName ?? env.AZURE_STORAGE_ACCOUNT;
  const custom = stated.BlobEndpoint ?? env.AZURE_STORAGE_SERVICE_ENDPOINT;
  if (!account) {
    const sentence = 'az:// needs the name of an account: set AZURE_STORAGE_ACCOUNT or AZURE_STORAGE_CONNECTION_STRING';
    throw new InputError('read', sentence);
  }
  if (!/^[a-z0-9]{3,24}$/.test(account)) {
    const allowed = '3 to 24 small letters and digits';
    throw new InputError('read', `Expected ${allowed} as the name of the Azure account but it is '${account}'`);
  }
  if (custom && !(URL.canParse(custom) && /^https?:$/.test(new URL(custom).protocol))) {
    const where = stated.BlobEndpoint ? 'AZURE_STORAGE_CONNECTION_STRING' : 'AZURE_STORAGE_SERVICE_ENDPOINT';
    throw new InputError('read', `Expected an http: or https: URL as the endpoint in ${where} but it is '${custom}'`);
  }
  const protocol = stated.DefaultEndpointsProtocol === 'http' ? 'http' : 'https';
  const usual = `${protocol}://${account}.blob.${stated.EndpointSuffix ?? 'core.windows.net'}`;
  const sas = stated.SharedAccessSignature ?? env.AZURE_STORAGE_SAS_TOKEN;
  return {
    account,
    endpoint: new URL(custom || usual),
    isUsual: !custom,
    key: stated.AccountKey ?? (env.AZURE_STORAGE_KEY || undefined),
    sas: sas?.replace(/^\?/, '') || undefined,
  };
}

/** The URL of a blob, or of the container if the key is empty. */
export function azUrl({ endpoint }: AzSettings, container: string, key: string): URL {
  const path = key === '' ? '' : `/${pathOfKey(key)}`;
  return new URL(`${endpoint.origin}${endpoint.pathname.replace(/\/$/, '')}/${container}${path}`);
}

/** NAME=VALUE;NAME=VALUE… Values may hold '='. */
const partsOf = (text: string): Record<string, string | undefined> =>
  Object.fromEntries(text.split(';').map((part) => part.split(/=(.*)/s, 2)));
