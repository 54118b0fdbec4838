import { checkHost, lookupAllowed } from '../access/allowed-host.ts';
import { InputError } from '../input-error.ts';
import { STATUS_CODES } from '../node-http.ts';
import { SourceUriError } from '../source-errors.ts';
import { bucketTarget } from './bucket-target.ts';
import { parseRemoteUri } from './remote-uri.ts';
import type { RemoteTarget } from './target.ts';

export type { RemoteTarget };

/** The file at a URI; for a member, its tar. Throws InputError for a URI that cannot be requested. */
export function remoteTarget(uri: string): RemoteTarget {
  try {
    const parsed = parseRemoteUri(uri);
    if (parsed.scheme !== 'http') return bucketTarget[parsed.scheme](parsed.bucket, parsed.key, {});
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

async function explainHttpRefusal(status: number): Promise<string> {
  const answer = `${status} ${STATUS_CODES[status] ?? ''}`.trim();
  if (status === 404 || status === 410) return `The server has no such file: ${answer}`;
  if (status === 401 || status === 403) return `The server refuses access: ${answer}`;
  if (status >= 500) return `The server failed: ${answer}`;
  return `The server did not send the file: ${answer}`;
}
