import { createHash } from 'node:crypto';

/**
 * The URI as it may stand in results, logs and sentences: without a user name or password, and with the query, which
 * may hold a signature, replaced by the beginning of its SHA-256, so that sources that differ in it alone still differ.
 * Files and paths stay as they are; so does what has no query. What is no URI but looks like one loses all that may be
 * secret.
 */
export function redactUri(uri: string): string {
  if (uri.startsWith('file:')) return uri;
  const [scheme] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(uri) ?? [];
  if (!scheme || /^file:/i.test(scheme)) return uri;
  const [, place, rest] = /^([^?#]*)(.*)$/s.exec(uri.slice(scheme.length))!;
  const mark = rest ? `?redacted-${createHash('sha256').update(rest!).digest('hex').slice(0, 8)}` : '';
  if (!place!.includes('@')) return scheme + place + mark;
  // An '@' of a path is no end of a password, as long as what is before it can be a host.
  const [authority = ''] = place!.split('/');
  const isHost = /^(\[[0-9a-f:.]+\]|[\p{L}\p{N}._-]*)(:\d*)?$/iu;
  if (isHost.test(authority)) return scheme + place + mark;
  const bare = authority.slice(authority.lastIndexOf('@') + 1);
  return authority.includes('@') && isHost.test(bare)
    ? `${scheme}${bare}${place!.slice(authority.length)}${mark}`
    : `${scheme}redacted`;
}
