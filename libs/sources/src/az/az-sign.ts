import { createHmac } from 'node:crypto';

/** The version of the service that requests are written for. */
export const azVersion = '2020-10-02';

/**
 * The headers of a GET, with the signature of the account's key: Azure's Shared Key, as of 2015-02-21. `headers` have
 * small letters.
 */
export function signAz(
  url: URL,
  headers: Record<string, string>,
  { account, key }: { account: string; key: string },
  now = new Date(),
): Record<string, string> {
  const sent: Record<string, string> = { ...headers, 'x-ms-date': now.toUTCString(), 'x-ms-version': azVersion };
  // A GET has none of the others: Content-Encoding, -Language, -Length, -MD5, -Type and Date.
  const conditions = ['if-modified-since', 'if-match', 'if-none-match', 'if-unmodified-since', 'range'];
  const own = Object.entries(sent).filter(([name]) => name.startsWith('x-ms-'));
  const query = [...url.searchParams].map(([name, value]) => `${name.toLowerCase()}:${value}`);
  const text = [
    'GET',
    ...['', '', '', '', '', ''],
    ...conditions.map((name) => sent[name] ?? ''),
    ...own.map(([name, value]) => `${name}:${value}`).sort(),
    `/${account}${url.pathname}`,
    ...query.sort(),
  ].join('\n');
  const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64');
  return { ...sent, authorization: `SharedKey ${account}:${signature}` };
}
