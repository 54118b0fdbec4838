import { UsageError } from '../usage-error.ts';
import { type Access, identifiedAccess, openAccess, ownTokenAccess, tokenIdentity } from './access.ts';
import { OidcIdentity } from './oidc-identity.ts';
import { type OtherIdentities, type OtherIdentityOptions, readOtherIdentities } from './other-identities.ts';
import { noRules, type RulesOfOwners } from './owner-rules.ts';
import { readOwners, watchOwners } from './owners-file.ts';
import { proxyIdentity } from './proxy-identity.ts';
import { openTls, type Tls, type TlsOptions, type WatchedTls } from './tls-files.ts';
import { readTokens, TokenFile } from './token-file.ts';
import type { Warn } from './watched-files.ts';

export interface ServerSecurityOptions extends TlsOptions, OtherIdentityOptions {
  /** File of tokens. */
  tokens?: string;
  /** File of what owners of jobs may have. */
  owners?: string;
  /** Callers need the token in this process's own environment variable HALOGRID_TOKEN. */
  ownToken?: boolean;
}

/** How a server authenticates its callers; the options are checked. */
export interface ServerSecurity {
  /** A certificate and its key. With an authority, every caller must show a certificate that the authority signed. */
  tls: WatchedTls | undefined;
  tokensFile: string | undefined;
  ownersFile: string | undefined;
  /** Who else knows callers. */
  others: OtherIdentities;
  /** The one token that all callers use. */
  ownToken: string | undefined;
}

/** Reads and checks the files that the options name. Throws UsageError. */
export function createServerSecurity(
  options: ServerSecurityOptions,
  env: Record<string, string | undefined> = {},
): ServerSecurity {
  const tls = openTls(options);
  if (tls && !options.tlsCert)
    throw new UsageError('Expected --tls-cert and --tls-key with --tls-ca but received none');
  if (options.tokens) readTokens(options.tokens);
  if (options.owners) readOwners(options.owners);
  const ownToken = options.ownToken ? env.HALOGRID_TOKEN : undefined;
  if (options.ownToken && !ownToken) throw new UsageError('Expected a token in HALOGRID_TOKEN but found none');
  const others = readOtherIdentities(options, options.tokens !== undefined);
  return { tls, tokensFile: options.tokens, ownersFile: options.owners, others, ownToken };
}

/** Whether it is safe that other machines reach the server: traffic is encrypted, or callers have a token. */
export const isProtected = ({ tls, tokensFile, ownToken }: ServerSecurity): boolean =>
  Boolean(tls || tokensFile || ownToken);

/** A function that gives the present certificates; undefined: without TLS. Problems with changed files go to `warn`. */
export function createTls({ tls }: ServerSecurity, warn: Warn): (() => Tls) | undefined {
  return tls && (() => tls.current(warn));
}

/**
 * Decides what callers may do. `rules` give roles to callers without a token of the file. Problems with a file that
 * changes later go to `warn`.
 */
export function createAccess(
  { tokensFile, others: { oidc, proxy }, ownToken }: ServerSecurity,
  warn: Warn,
  rules: () => RulesOfOwners = () => noRules,
): Access {
  if (ownToken) return ownTokenAccess(ownToken);
  if (!tokensFile) return openAccess;
  const monotonicMs = () => performance.now();
  const clock = { monotonicMs, wallMs: Date.now };
  const known = [tokenIdentity(new TokenFile(tokensFile, warn, monotonicMs()), clock)];
  const provider = oidc && new OidcIdentity(oidc, rules, Date.now);
  if (provider) known.push(provider.identify);
  if (proxy) known.push(proxyIdentity(proxy, rules));
  return identifiedAccess(known, provider?.prepare);
}

/** What owners of jobs may have now: the same object until that changes. Problems with a changed file go to `warn`. */
export function createOwnerRules({ ownersFile }: ServerSecurity, warn: Warn): () => RulesOfOwners {
  return ownersFile ? watchOwners(ownersFile, warn, () => performance.now()) : () => noRules;
}

/** Warnings for the operator of a server that other machines can reach. */
export function weaknesses({ tls, tokensFile }: ServerSecurity): string[] {
  if (!tls && tokensFile) return ['Tokens are sent without TLS: everyone who sees the network traffic can use them'];
  if (tls && !tls.current().ca && !tokensFile) {
    return ['Everyone who reaches this server may use it: TLS without --tls-ca or --tokens asks nobody who they are'];
  }
  return [];
}
