// Only this file imports jose.
import { createHash } from 'node:crypto';
import type { JWTVerifyGetKey } from 'jose';
import type { Caller, Denial, Identify } from './access.ts';
import { callerName } from './caller-name.ts';
import { bearerOf, type Credentials } from './credentials.ts';
import { type RulesOfOwners, rulesOf } from './owner-rules.ts';

/** An identity provider of OpenID Connect. */
export interface OidcOptions {
  /** Its URL, as its tokens state it. */
  issuer: string;
  /** Whom tokens must be meant for. */
  audience: string;
  /** The claim with a caller's name. */
  nameClaim: string;
}

interface Known {
  result: { name: string } | Denial;
  /** Until when the result holds, in milliseconds since 1970. */
  untilMs: number;
}

/** Keys that anybody may know sign tokens; keys that both sides share would be secrets of the provider. */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** The most tokens whose check is remembered. */
const mostKnown = 10_000;
/** How long a refusal is remembered: it may have come from a provider that was away. */
const refusedForMs = 2_000;
/** The clocks of a provider and of this machine may differ by so much. */
const toleranceSeconds = 10;
/** How long the provider may take to answer. */
const answerWithinMs = 5_000;

const isJwt = (token: string): boolean => /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);

/**
 * Knows callers by tokens that an identity provider has signed. Signatures are checked asynchronously, once for each
 * token: a caller must be prepared before it is identified.
 */
export class OidcIdentity {
  readonly #options: OidcOptions;
  readonly #rules: () => RulesOfOwners;
  readonly #wallMs: () => number;
  /** By the hash of the token, the oldest first. */
  readonly #known = new Map<string, Known>();
  readonly #underWay = new Map<string, Promise<void>>();
  #keys: Promise<JWTVerifyGetKey> | undefined;

  /** `rules` give the role of each caller. */
  constructor(options: OidcOptions, rules: () => RulesOfOwners, wallMs: () => number) {
    this.#options = options;
    this.#rules = rules;
    this.#wallMs = wallMs;
  }

  /** Resolves once the caller's token is checked; undefined if there is nothing to check. */
  readonly prepare = (credentials: Credentials): Promise<void> | undefined => {
    const token = bearerOf(credentials);
    if (token === undefined || !isJwt(token)) return undefined;
    const key = hashOf(token);
    const known = this.#known.get(key);
    if (known && (!('sentence' in known.result) || this.#wallMs() < known.untilMs)) return undefined;
    let checking = this.#underWay.get(key);
    if (!checking) {
      checking = this.#check(token).then((checked) => {
        this.#underWay.delete(key);
        this.#remember(key, checked);
      });
      this.#underWay.set(key, checking);
    }
    return checking;
  };

  readonly identify: Identify = (credentials): Caller | Denial | undefined => {
    const token = bearerOf(credentials);
    const known = token && isJwt(token) ? this.#known.get(hashOf(token)) : undefined;
    if (!known) return undefined;
    const { result, untilMs } = known;
    if ('sentence' in result) return result;
    const { name } = result;
    if (this.#wallMs() < untilMs) return { name, role: rulesOf(this.#rules(), name).role };
    return refused(`The token of '${name}' expired at ${new Date(untilMs).toISOString()}`, name);
  };

  #remember(key: string, known: Known): void {
    this.#known.delete(key);
    this.#known.set(key, known);
    if (this.#known.size <= mostKnown) return;
    const [oldest] = this.#known.keys();
    this.#known.delete(oldest!);
  }

  async #check(token: string): Promise<Known> {
    const { issuer, audience, nameClaim } = this.#options;
    try {
      const { jwtVerify } = await import('jose');
      const keys = await this.#openKeys();
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience,
        algorithms,
        requiredClaims: ['exp', nameClaim],
        clockTolerance: toleranceSeconds,
        currentDate: new Date(this.#wallMs()),
      });
      const name = callerName(payload[nameClaim]);
      if (name === undefined) return this.#refusal(`its claim '${nameClaim}' is not a name without blanks`);
      return { result: { name }, untilMs: 1000 * (payload.exp! + toleranceSeconds) };
    } catch (error) {
      return this.#refusal(error instanceof Error ? error.message : String(error));
    }
  }

  #refusal(why: string): Known {
    const sentence = `The token is not accepted as one of ${this.#options.issuer}: ${why}`;
    return { result: refused(sentence, ''), untilMs: this.#wallMs() + refusedForMs };
  }

  /** The keys of the provider, which are fetched again when a token names a new one. */
  #openKeys(): Promise<JWTVerifyGetKey> {
    this.#keys ??= findKeys(this.#options.issuer).catch((error) => {
      this.#keys = undefined;
      throw error;
    });
    return this.#keys;
  }
}

async function findKeys(issuer: string): Promise<JWTVerifyGetKey> {
  const { createRemoteJWKSet } = await import('jose');
  const place = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const response = await fetch(place, { signal: AbortSignal.timeout(answerWithinMs), redirect: 'error' }).catch(
    (error: Error) => {
      const { cause } = error;
      throw new Error(`${place} does not answer: ${cause instanceof Error ? cause.message : error.message}`);
    },
  );
  if (!response.ok) throw new Error(`${place} answers with ${response.status}`);
  const found = (await response.json()) as { issuer?: unknown; jwks_uri?: unknown };
  if (found.issuer !== issuer) throw new Error(`${place} is of '${String(found.issuer)}', which is another issuer`);
  if (!URL.canParse(String(found.jwks_uri))) throw new Error(`${place} names no jwks_uri`);
  return createRemoteJWKSet(new URL(String(found.jwks_uri)), { timeoutDuration: answerWithinMs });
}

const hashOf = (token: string): string => createHash('sha256').update(token).digest('base64');

const refused = (sentence: string, name: string): Denial => ({ kind: 'unauthenticated', sentence, name });
