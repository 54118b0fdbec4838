import { UsageError } from '../usage-error.ts';
import type { OidcOptions } from './oidc-identity.ts';
import { noRules } from './owner-rules.ts';
import { type ProxyOptions, proxyIdentity } from './proxy-identity.ts';

/** Options for callers who are known by something other than a token of the own file. */
export interface OtherIdentityOptions {
  oidcIssuer?: string;
  oidcAudience?: string;
  /** `sub` unless given. */
  oidcName?: string;
  identityHeader?: string;
  trustedProxy?: readonly string[];
}

/** Who else knows callers. */
export interface OtherIdentities {
  oidc?: OidcOptions;
  proxy?: ProxyOptions;
}

/** Checks the options. `tokens`: there is a file of tokens, which nodes need in any case. Throws UsageError. */
export function readOtherIdentities(options: OtherIdentityOptions, tokens: boolean): OtherIdentities {
  const { oidcIssuer: issuer, oidcAudience: audience, oidcName, identityHeader: header, trustedProxy = [] } = options;
  together('--oidc-issuer', issuer, '--oidc-audience', audience);
  if (oidcName !== undefined) together('--oidc-name', oidcName, '--oidc-issuer', issuer);
  together('--identity-header', header, '--trusted-proxy', trustedProxy[0]);
  if ((issuer || header) && !tokens) {
    throw new UsageError(
      `Expected --tokens with ${issuer ? '--oidc-issuer' : '--identity-header'} but received none: nodes show tokens of that file`,
    );
  }
  const oidc = issuer && audience ? { issuer: checkIssuer(issuer), audience, nameClaim: oidcName ?? 'sub' } : undefined;
  const proxy = header ? { header: checkHeader(header), proxies: trustedProxy } : undefined;
  if (proxy) proxyIdentity(proxy, () => noRules);
  return { ...(oidc && { oidc }), ...(proxy && { proxy }) };
}

function together(one: string, given: string | undefined, other: string, needed: string | undefined): void {
  if (given !== undefined && needed === undefined)
    throw new UsageError(`Expected ${other} with ${one} but received none`);
  if (needed !== undefined && given === undefined && other !== '--oidc-issuer') {
    throw new UsageError(`Expected ${one} with ${other} but received none`);
  }
}

const isLocal = ({ hostname }: URL): boolean => ['localhost', '127.0.0.1', '[::1]'].includes(hostname);

/** Over HTTP, somebody between this process and the provider could replace its keys. */
function checkIssuer(issuer: string): string {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined;
  if (url && !url.search && !url.hash && (url.protocol === 'https:' || (url.protocol === 'http:' && isLocal(url)))) {
    return issuer;
  }
  throw new UsageError(`Expected an https URL for --oidc-issuer but received '${issuer}'`);
}

function checkHeader(header: string): string {
  if (/^[A-Za-z0-9-]{1,100}$/.test(header) && header.toLowerCase() !== 'authorization') return header;
  throw new UsageError(
    `Expected the name of a header such as X-Forwarded-User for --identity-header but received '${header}'`,
  );
}
