import { isIP } from 'node:net';

/** Names that end like this cannot be registered (RFC 6761, 6762, 8375, ICANN), or belong to a cluster (Kubernetes). */
const ofNetworks = ['.localhost', '.local', '.internal', '.home.arpa', '.svc'];

/**
 * Why a request with this `Host` header may come from a page of another site that made its own name point here (DNS
 * rebinding), in one sentence. Undefined for a safe request: to an address, to a name that no site can have, or to one
 * of `own`. A program that sends no such header is not a browser.
 */
export function whyForeignName(host: string | undefined, own: readonly string[]): string | undefined {
  if (host === undefined) return undefined;
  const name = host.replace(/:\d*$/, '').replace(/\.$/, '').toLowerCase();
  if (isIP(name.replace(/^\[|\]$/g, '')) !== 0 || !name.includes('.')) return undefined;
  if (ofNetworks.some((suffix) => name.endsWith(suffix))) return undefined;
  if (own.some((one) => one.toLowerCase() === name)) return undefined;
  const [first = ''] = own;
  return `Without tokens, this answers at its address, at '${first}' and at names that only a network of its own has, but was asked as '${host.slice(0, 200)}': use one of these, --http ${name.slice(0, 200)}:PORT, or --tokens`;
}
