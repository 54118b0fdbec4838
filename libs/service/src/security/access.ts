import { timingSafeEqual } from 'node:crypto';
import { bearerOf, type Credentials } from './credentials.ts';
import { includesRole, type Role } from './roles.ts';
import type { TokenFile } from './token-file.ts';
import { findToken, hashToken } from './tokens.ts';

/** A caller that is known. */
export interface Caller {
  /** Empty if nobody asks callers who they are. */
  name: string;
  role: Role;
}

/** Why a caller is refused: it is unknown, or its role is not enough. The sentence holds no secret. */
export interface Denial {
  kind: 'unauthenticated' | 'forbidden';
  sentence: string;
  /** Its name; empty if it is unknown. */
  name: string;
}

/** Either who the caller is, or why it is refused. */
export type Admission = { caller: Caller; denial?: undefined } | { caller?: undefined; denial: Denial };

/** Decides what callers may do. */
export interface Access {
  admit(credentials: Credentials, needed: Role): Admission;
  /** To be awaited before the first `admit` of a request or call, if it gives a promise. Never rejects. */
  prepare?(credentials: Credentials): Promise<void> | undefined;
}

/** Finds out who a caller is, or why its credentials are wrong; undefined if it shows none of this kind. */
export type Identify = (credentials: Credentials) => Caller | Denial | undefined;

/** Allows everything: only the network, or the certificate that a connection needs, keeps others out. */
export const openAccess: Access = { admit: () => ({ caller: { name: '', role: 'admin' } }) };

/** A caller that one of the functions knows may do what its role includes. They are asked in order. */
export function identifiedAccess(identifiers: readonly Identify[], prepare?: Access['prepare']): Access {
  return {
    ...(prepare && { prepare }),
    admit(credentials, needed) {
      let known: Caller | Denial | undefined;
      for (const identify of identifiers) known ??= identify(credentials);
      if (!known) return { denial: bearerOf(credentials) ? unknown : missing(needed) };
      if ('sentence' in known) return { denial: known };
      if (includesRole(known.role, needed)) return { caller: known };
      const { name, role } = known;
      const sentence = `The role of '${name}' is '${role}', and this needs '${needed}'`;
      return { denial: { kind: 'forbidden', sentence, name } };
    },
  };
}

export interface AccessClock {
  /** Milliseconds of a clock that never goes back. */
  monotonicMs: () => number;
  /** Milliseconds since 1970. */
  wallMs: () => number;
}

/** Knows callers by the tokens of a file. */
export function tokenIdentity(tokens: TokenFile, { monotonicMs, wallMs }: AccessClock): Identify {
  return (credentials) => {
    const token = bearerOf(credentials);
    const entry = token && findToken(tokens.entries(monotonicMs()), token);
    if (!entry) return undefined;
    const { name, role, expiresMs } = entry;
    if (expiresMs === undefined || expiresMs > wallMs()) return { name, role };
    const sentence = `The token of '${name}' expired at ${new Date(expiresMs).toISOString()}`;
    return { kind: 'unauthenticated', sentence, name };
  };
}

/** A caller with this one token may do everything. For processes that a user's command starts to work together. */
export function ownTokenAccess(own: string): Access {
  const digest = hashToken(own);
  return {
    admit(credentials, needed) {
      const token = bearerOf(credentials);
      if (!token) return { denial: missing(needed) };
      return timingSafeEqual(hashToken(token), digest) ? openAccess.admit(credentials, needed) : { denial: unknown };
    },
  };
}

const unauthenticated = (sentence: string): Denial => ({ kind: 'unauthenticated', sentence, name: '' });
const missing = (needed: Role): Denial =>
  unauthenticated(`Expected a token with the role '${needed}' but received none`);
const unknown = unauthenticated('The token is not known here');
