import { createHash, timingSafeEqual } from 'node:crypto';
import { UsageError } from '../usage-error.ts';
import { type Role, roles } from './roles.ts';

/** A token of the file of tokens. The token itself is not stored. */
export interface TokenEntry {
  role: Role;
  /** Name of the token's owner, for logs. */
  name: string;
  /** SHA-256 of the token. */
  digest: Buffer;
  /** Milliseconds since 1970; undefined: it does not expire. */
  expiresMs: number | undefined;
}

/** Fewest characters of a token, because shorter ones can be guessed: 16 characters of base64 are 96 bits. */
const minTokenLength = 16;

/**
 * Parses a file of tokens. Each line is ROLE NAME TOKEN [EXPIRES], separated by blanks. `sha256:` and 64 hexadecimal
 * digits may stand for the token; EXPIRES is an ISO 8601 time in UTC. Empty lines and lines that begin with '#' are
 * skipped. Throws UsageError, which names the line and shows nothing that may be a secret.
 */
export function parseTokens(text: string, where: string): TokenEntry[] {
  const entries: TokenEntry[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (/^\s*(#|$)/.test(line)) continue;
    const refuse = (expected: string): never => {
      throw new UsageError(`Expected ${expected} in line ${index + 1} of ${where}`);
    };
    const [role = '', name = '', token = '', expires, ...rest] = line.trim().split(/\s+/);
    if (!token || rest.length > 0) refuse('ROLE NAME TOKEN [EXPIRES]');
    const known = roles.find((one) => one === role) ?? refuse(`one of ${roles.join(', ')} as the role`);
    const entry = { role: known, name, digest: digestOf(token, refuse), expiresMs: timeOf(expires, refuse) };
    if (entries.some(({ digest }) => digest.equals(entry.digest))) refuse('no token twice, but found one again');
    entries.push(entry);
  }
  if (entries.length === 0) throw new UsageError(`Expected at least one token in ${where} but found none`);
  return entries;
}

function digestOf(token: string, refuse: (expected: string) => never): Buffer {
  if (!token.startsWith('sha256:')) {
    return token.length >= minTokenLength
      ? hashToken(token)
      : refuse(`a token of at least ${minTokenLength} characters ('openssl rand -hex 32' makes one)`);
  }
  const hex = token.slice('sha256:'.length);
  return /^[0-9a-f]{64}$/i.test(hex) ? Buffer.from(hex, 'hex') : refuse("64 hexadecimal digits after 'sha256:'");
}

function timeOf(text: string | undefined, refuse: (expected: string) => never): number | undefined {
  if (text === undefined) return undefined;
  const isUtc = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?Z)?$/.test(text);
  return isUtc && !Number.isNaN(Date.parse(text))
    ? Date.parse(text)
    : refuse('a time such as 2030-12-31T00:00:00Z as the end');
}

/** SHA-256 of a token, for the file of tokens, and for comparisons whose time reveals nothing about the token. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** The entry of a token. Every entry is compared, so that the time does not reveal which one matches. */
export function findToken(entries: readonly TokenEntry[], token: string): TokenEntry | undefined {
  const digest = hashToken(token);
  let found: TokenEntry | undefined;
  for (const entry of entries) if (timingSafeEqual(entry.digest, digest)) found = entry;
  return found;
}
