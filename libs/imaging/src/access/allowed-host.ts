import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { SourceForbiddenError, sourceAccess } from './source-access.ts';

/** Addresses of this machine, of its own network, and of services of a cloud: only a host that is named itself may have one. */
const notPublic = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  notPublic.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 127],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  notPublic.addSubnet(network, prefix, 'ipv6');
}

/** Whether an IP address is one that everyone's hosts may have. IPv4 in IPv6 is looked at as IPv4. */
export function isPublic(address: string): boolean {
  return !notPublic.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Throws SourceForbiddenError for a host that this process may not ask. */
export function checkHost({ hostname, host }: URL): void {
  const { hosts } = sourceAccess();
  if (!hosts) return;
  const rule = ruleFor(hostname, hosts);
  if (!rule) throw new SourceForbiddenError(`The host '${host}' is none of those that may be asked (--allow-host)`);
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  if (rule === 'pattern' && isIP(address) && !isPublic(address)) throw notNamed(hostname);
}

/**
 * Looks a host's name up for one connection, which then is made to the address that was looked at: a name that leads to another
 * address a moment later is of no use.
 */
export const lookupAllowed: LookupFunction = (hostname, options, callback) => {
  const { hosts } = sourceAccess();
  if (!hosts || ruleFor(hostname, hosts) === 'name') return lookup(hostname, options, callback);
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error) return callback(error, []);
    if (!addresses.every(({ address }) => isPublic(address))) return callback(notNamed(hostname), []);
    if (options.all) return callback(null, addresses);
    const [first] = addresses;
    callback(null, first!.address, first!.family);
  });
};

function ruleFor(hostname: string, hosts: readonly string[]): 'name' | 'pattern' | undefined {
  const name = hostname.toLowerCase().replace(/\.$/, '');
  if (hosts.includes(name)) return 'name';
  const matches = (pattern: string) => pattern === '*' || (pattern.startsWith('*.') && name.endsWith(pattern.slice(1)));
  return hosts.some(matches) ? 'pattern' : undefined;
}

const notNamed = (hostname: string): SourceForbiddenError =>
  new SourceForbiddenError(
    `The host '${hostname}' has an address that is not public, so --allow-host must name it and not only match it`,
  );
