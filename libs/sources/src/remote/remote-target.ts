import type { IncomingHttpHeaders } from 'node:http';
import type { LookupFunction } from 'node:net';
import { checkHost, lookupAllowed } from '../access/allowed-host.ts';
import { InputError } from '../input-error.ts';
import { STATUS_CODES } from '../node-http.ts';
import { findCredentials } from '../s3/s3-credentials.ts';
import { objectUrl, type S3Settings, s3Settings } from '../s3/s3-settings.ts';
import { SourceUriError } from '../source-errors.ts';
import { parseRemoteUri } from './remote-uri.ts';

/** How a file is requested. */
export interface RemoteTarget {
  readonly uri: string;
  /** The URI of its host or bucket, which may be away as a whole. */
  readonly place: string;
  /** Whether redirections to the same host are followed. */
  readonly followsRedirects: boolean;
  /** The request, signed for now if it must be. */
  request(headers: Record<string, string>): Promise<{ url: URL; headers: Record<string, string> }>;
  /** How the address of its host is looked up; undefined: as the system does. */
  readonly lookup?: LookupFunction;
  /** One sentence about an answer that is not a success; `body`: the beginning of its body. */
  explain(status: number, headers: IncomingHttpHeaders, body: string): Promise<string>;
}

/** The file at a URI; for a member, its tar. Throws InputError for a URI that cannot be requested. */
export function remoteTarget(uri: string): RemoteTarget {
  try {
    const parsed = parseRemoteUri(uri);
    if (parsed.scheme === 's3') return s3Target(parsed.bucket, parsed.key, {});
    const { url } = parsed;
    checkHost(url);
    return {
      uri: url.href,
      place: url.origin,
      followsRedirects: true,
      request: async (headers) => ({ url, headers }),
      lookup: lookupAllowed,
      explain: explainHttpRefusal,
    };
  } catch (error) {
    throw error instanceof SourceUriError ? new InputError('read', error.message) : error;
  }
}

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
      return explainS3Refusal({ bucket, key, settings, isSigned }, status, headers, body);
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

async function explainHttpRefusal(status: number): Promise<string> {
  const answer = `${status} ${STATUS_CODES[status] ?? ''}`.trim();
  if (status === 404 || status === 410) return `The server has no such file: ${answer}`;
  if (status === 401 || status === 403) return `The server refuses access: ${answer}`;
  if (status >= 500) return `The server failed: ${answer}`;
  return `The server did not send the file: ${answer}`;
}
