import { timingSafeEqual } from 'node:crypto';
import { includesRole, type Role } from './roles.ts';
import type { TokenFile } from './token-file.ts';
import { findToken, hashToken } from './tokens.ts';

/** Why a caller is refused: it is unknown, or its role is not enough. The sentence holds no secret. */
export interface Denial {
  kind: 'unauthenticated' | 'forbidden';
  sentence: string;
}

/** Decides what callers may do. */
export interface Access {
  /** `authorization` is the header of that name. Undefined: the caller may. */
  check(authorization: string | undefined, needed: Role): Denial | undefined;
}

/** Allows everything: only the network, or the certificate that a connection needs, keeps others out. */
export const openAccess: Access = { check: () => undefined };

export interface AccessClock {
  /** Milliseconds of a clock that never goes back. */
  monotonicMs: () => number;
  /** Milliseconds since 1970. */
  wallMs: () => number;
}

/** A caller with a token of the file may do what the token's role includes. */
export function tokenAccess(tokens: TokenFile, { monotonicMs, wallMs }: AccessClock): Access {
  return {
    check(authorization, needed) {
      const token = bearer(authorization);
      if (!token) return missing(needed);
      const entry = findToken(tokens.entries(monotonicMs()), token);
      if (!entry) return unknown;
      if (entry.expiresMs !== undefined && entry.expiresMs <= wallMs()) {
        return unauthenticated(`The token of '${entry.name}' expired at ${new Date(entry.expiresMs).toISOString()}`);
      }
      if (includesRole(entry.role, needed)) return undefined;
      const sentence = `The token of '${entry.name}' has the role '${entry.role}', and this needs '${needed}'`;
      return { kind: 'forbidden', sentence };
    },
  };
}

/** A caller with this one token may do everything. For processes that a user's command starts to work together. */
export function ownTokenAccess(own: string): Access {
  const digest = hashToken(own);
  return {
    check(authorization, needed) {
      const token = bearer(authorization);
      if (!token) return missing(needed);
      return timingSafeEqual(hashToken(token), digest) ? undefined : unknown;
    },
  };
}

const bearer = (authorization = ''): string | undefined => /^Bearer +(\S+) *$/i.exec(authorization)?.[1];

const unauthenticated = (sentence: string): Denial => ({ kind: 'unauthenticated', sentence });
const missing = (needed: Role): Denial =>
  unauthenticated(`Expected a token with the role '${needed}' but received none`);
const unknown = unauthenticated('The token is not known here');
