import { UsageError } from '../usage-error.ts';
import { type Access, openAccess, ownTokenAccess, tokenAccess } from './access.ts';
import { openTls, type Tls, type TlsOptions, type WatchedTls } from './tls-files.ts';
import { readTokens, TokenFile } from './token-file.ts';
import type { Warn } from './watched-files.ts';

export interface ServerSecurityOptions extends TlsOptions {
  /** File of tokens. */
  tokens?: string;
  /** Callers need the token that this process has in its environment itself, HALOGRID_TOKEN. */
  ownToken?: boolean;
}

/** How a server knows who asks, checked. */
export interface ServerSecurity {
  /** With a certificate and its key. With an authority, every caller must show a certificate that it signed. */
  tls: WatchedTls | undefined;
  tokensFile: string | undefined;
  /** The one token of all callers. */
  ownToken: string | undefined;
}

/** Reads and checks what the options name. Throws UsageError. */
export function createServerSecurity(
  options: ServerSecurityOptions,
  env: Record<string, string | undefined> = {},
): ServerSecurity {
  const tls = openTls(options);
  if (tls && !options.tlsCert)
    throw new UsageError('Expected --tls-cert and --tls-key with --tls-ca but received none');
  if (options.tokens) readTokens(options.tokens);
  const ownToken = options.ownToken ? env.HALOGRID_TOKEN : undefined;
  if (options.ownToken && !ownToken) throw new UsageError('Expected a token in HALOGRID_TOKEN but found none');
  return { tls, tokensFile: options.tokens, ownToken };
}

/** Whether a server may be reached from other machines: what is sent is encrypted, or callers have a token. */
export const isProtected = ({ tls, tokensFile, ownToken }: ServerSecurity): boolean =>
  Boolean(tls || tokensFile || ownToken);

/**
 * The certificates as they are when it is called; undefined: without TLS. Troubles with files that change go to `warn`.
 */
export function createTls({ tls }: ServerSecurity, warn: Warn): (() => Tls) | undefined {
  return tls && (() => tls.current(warn));
}

/** Who may do what. Troubles with a file that changes later go to `warn`. */
export function createAccess({ tokensFile, ownToken }: ServerSecurity, warn: Warn): Access {
  if (ownToken) return ownTokenAccess(ownToken);
  if (!tokensFile) return openAccess;
  const monotonicMs = () => performance.now();
  return tokenAccess(new TokenFile(tokensFile, warn, monotonicMs()), { monotonicMs, wallMs: Date.now });
}

/** What an operator should know of a server that other machines can reach. */
export function weaknesses({ tls, tokensFile }: ServerSecurity): string[] {
  if (!tls && tokensFile)
    return ['Tokens are sent without TLS: anyone who can read the traffic of the network can use them'];
  if (tls && !tls.current().ca && !tokensFile) {
    return ['Everyone who reaches this server may use it: TLS without --tls-ca or --tokens asks nobody who they are'];
  }
  return [];
}
