import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { SourceForbiddenError, sourceAccess } from './source-access.ts';

/**
 * Addresses that are not public, by IANA's registries of special-purpose addresses (IPv4: RFC 6890 and its successors;
 * IPv6 likewise) and of multicast: of this machine, of its network, of cloud services, of documentation and tests, and
 * addresses that lead to an IPv4 address through a relay. Only a host that is listed by name may have one.
 */
const notPublic = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  notPublic.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  // Teredo, benchmarks, ORCHID and others: no address that is reserved for protocols belongs to a host that serves
  // images.
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  notPublic.addSubnet(network, prefix, 'ipv6');
}

/** All addresses that are given to hosts on the internet. Others have a special purpose, or none yet. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');
/** IPv4 in IPv6. */
const mapped = new BlockList();
mapped.addSubnet('::ffff:0:0', 96, 'ipv6');

/** Whether an IP address may belong to a public host. IPv4 in IPv6 counts as IPv4. */
export function isPublic(address: string): boolean {
  if (isIP(address) !== 6) return !notPublic.check(address, 'ipv4');
  // A list of IPv4 networks also holds the IPv6 addresses that are mapped to them.
  const isGlobal = globalUnicast.check(address, 'ipv6') || mapped.check(address, 'ipv6');
  return isGlobal && !notPublic.check(address, 'ipv6');
}

/** Throws SourceForbiddenError for a host that this process may not ask. */
export function checkHost({ hostname, host }: URL): void {
  const { hosts } = sourceAccess();
  if (!hosts) return;
  const rule = ruleFor(hostname, hosts);
  if (!rule) throw new SourceForbiddenError(`The host '${host}' is not among those that may be asked (--allow-host)`);
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  if (rule === 'pattern' && isIP(address) && !isPublic(address)) throw notNamed(hostname);
}

/**
 * Looks a host's name up for one connection, which is then made to the address that was checked. So a name that leads
 * to another address a moment later is useless.
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
