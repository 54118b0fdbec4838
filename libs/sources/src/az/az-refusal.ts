import type { IncomingHttpHeaders } from 'node:http';
import { STATUS_CODES } from '../node-http.ts';

/** What was asked for. `isSigned`: with a key, a signature or a token. */
interface Asked {
  account: string;
  container: string;
  key: string;
  isSigned: boolean;
}

/** One sentence about an answer of Azure that is not a success. It names the container and the blob, but no secret. */
export function explainAzRefusal(
  { account, container, key, isSigned }: Asked,
  status: number,
  headers: IncomingHttpHeaders,
): string {
  const code = /^\w{1,64}$/.exec(String(headers['x-ms-error-code'] ?? ''))?.[0] ?? '';
  const answer = `${status} ${code || STATUS_CODES[status] || ''}`.trim();
  const place = `the container '${container}' of the account '${account}'`;
  const what = key ? `'${key}' in ${place}` : place;
  if (code === 'ContainerNotFound')
    return `There is no container '${container}' in the account '${account}': ${answer}`;
  if (status === 404 || status === 410) return `There is no ${what.replace(/^the /, '')}: ${answer}`;
  // Without credentials, Azure says of what is not public that it conflicts.
  if (status === 401 || status === 403 || code === 'PublicAccessNotPermitted') {
    const how = isSigned ? '' : ', asked for without credentials';
    return `Access to ${what} is denied${how}: ${answer}`;
  }
  return `The server ${status >= 500 ? 'failed to' : 'did not'} send ${what}: ${answer}`;
}
