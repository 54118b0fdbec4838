import { X509Certificate } from 'node:crypto';
import { Gauge, type Registry } from '../metrics.ts';
import type { ServerSecurity } from './server-security.ts';
import { TokenFile } from './token-file.ts';
import type { TokenEntry } from './tokens.ts';

/**
 * Adds the metric of when a server's credentials end: its own certificate, and the token that ends next. Without
 * certificate and tokens that end it has no series.
 */
export function exposeCredentialEnds(registry: Registry, { tls, tokensFile }: ServerSecurity): void {
  // What is wrong with a changed file is logged where it is used.
  const tokens = tokensFile ? new TokenFile(tokensFile, () => {}, performance.now()) : undefined;
  new Gauge({
    name: 'halogrid_credential_end_timestamp_seconds',
    help: "When the server's certificate ends, and the next token of its file, in seconds since 1970.",
    labelNames: ['kind', 'name'],
    registers: [registry],
    collect() {
      this.reset();
      const { cert } = tls?.current() ?? {};
      if (cert) this.set({ kind: 'certificate', name: '' }, Date.parse(new X509Certificate(cert).validTo) / 1000);
      const next = nextToEnd(tokens?.entries(performance.now()) ?? [], Date.now());
      if (next) this.set({ kind: 'token', name: next.name }, next.expiresMs / 1000);
    },
  });
}

interface Ending {
  name: string;
  expiresMs: number;
}

/** The token that ends next after `nowMs`; undefined if none does. */
export function nextToEnd(entries: readonly TokenEntry[], nowMs: number): Ending | undefined {
  const ending = entries.flatMap(({ name, expiresMs = 0 }) => (expiresMs > nowMs ? [{ name, expiresMs }] : []));
  return ending.reduce<Ending | undefined>((a, b) => (a && a.expiresMs <= b.expiresMs ? a : b), undefined);
}
