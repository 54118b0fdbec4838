import { createHash } from 'node:crypto';
import { splitPart } from '../part-uri.ts';

/**
 * The URI as it may stand in results, logs and sentences: without a user name or password, and with the query, which
 * may hold a signature, replaced by the beginning of its SHA-256, so that sources that differ only in the query still
 * differ. Files, paths and URIs without a query stay as they are, and so does what names a part of a file. A text
 * that looks like a URI but is not one loses all that may be secret.
 */
export function redactUri(text: string): string {
  if (text.startsWith('file:')) return text;
  const [file, part] = splitPart(text);
  return redacted(file) + part;
}

function redacted(uri: string): string {
  const [scheme] = /^[a-z][a-z0-9+.-]*:\/\//i.exec(uri) ?? [];
  if (!scheme || /^file:/i.test(scheme)) return uri;
  const [, place, rest] = /^([^?#]*)(.*)$/s.exec(uri.slice(scheme.length))!;
  const mark = rest ? `?redacted-${createHash('sha256').update(rest!).digest('hex').slice(0, 8)}` : '';
  if (!place!.includes('@')) return scheme + place + mark;
  // An '@' in the path does not end a password, as long as the text before the path can be a host.
  const [authority = ''] = place!.split('/');
  const isHost = /^(\[[0-9a-f:.]+\]|[\p{L}\p{N}._-]*)(:\d*)?$/iu;
  if (isHost.test(authority)) return scheme + place + mark;
  const bare = authority.slice(authority.lastIndexOf('@') + 1);
  return authority.includes('@') && isHost.test(bare)
    ? `${scheme}${bare}${place!.slice(authority.length)}${mark}`
    : `${scheme}redacted`;
}
