import { isIP } from 'node:net';

/** Below these nobody can register a name (RFC 6761, 6762, 8375, ICANN), or clusters have theirs (Kubernetes). */
const ofNetworks = ['.localhost', '.local', '.internal', '.home.arpa', '.svc'];

/**
 * Why a request to that host, as its header says, may be from a page of another site that made a name of its own lead
 * here (DNS rebinding), in one sentence; undefined for one that cannot: to an address, to a name that no site can
 * have, or to one of `own`. Programs that send no such header are no browsers.
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
