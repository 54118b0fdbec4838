import { UsageError } from './usage-error.ts';

export interface ListenAddress {
  /** A name or an address; an IPv6 address in brackets. */
  host: string;
  port: number;
}

const loopback = new Set(['127.0.0.1', 'localhost', '[::1]']);

/** Parses `HOST:PORT`; port 0 means any free one. Throws UsageError. */
export function parseAddress(option: string, text: string): ListenAddress {
  const match = /^(\[[^[\]]+\]|[^:[\]]+):(\d{1,5})$/.exec(text);
  const port = Number(match?.[2]);
  if (!match || port > 65535) throw new UsageError(`Expected HOST:PORT for ${option} but received '${text}'`);
  return { host: match[1]!, port };
}

/** Parses addresses of servers, `HOST:PORT[,HOST:PORT…]`; no port may be 0. Throws UsageError. */
export function parseAddressList(option: string, text: string): string[] {
  const addresses = text.split(',');
  for (const address of addresses) {
    if (parseAddress(option, address).port > 0) continue;
    throw new UsageError(`Expected a port from 1 to 65535 for ${option} but received '${address}'`);
  }
  return addresses;
}

/** Whether only this machine reaches the address. */
export const isLoopback = ({ host }: ListenAddress): boolean => loopback.has(host);

/**
 * Parses the address of a server. One that other machines can reach is refused unless `isProtected` says that TLS, a
 * token or the network itself keeps others out. Throws UsageError.
 */
export function parseListenAddress(option: string, text: string, isProtected: boolean): ListenAddress {
  const address = parseAddress(option, text);
  if (!isLoopback(address) && !isProtected) {
    throw new UsageError(
      `Refusing to listen on ${text} (${option}): it is beyond this machine and there is neither TLS nor a token; give --tokens, --tls-cert with --tls-key, or --insecure-network where the network itself keeps others out`,
    );
  }
  return address;
}
