import { BlockList, isIP } from 'node:net';
import { UsageError } from '../usage-error.ts';
import type { Denial, Identify } from './access.ts';
import { callerName } from './caller-name.ts';
import { type RulesOfOwners, rulesOf } from './owner-rules.ts';

export interface ProxyOptions {
  /** The header with the name of a caller. */
  header: string;
  /** Addresses and networks of proxies: `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`. */
  proxies: readonly string[];
}

/** Knows callers by the header in which a proxy names them. `rules` give the role of each. Throws UsageError. */
export function proxyIdentity({ header, proxies }: ProxyOptions, rules: () => RulesOfOwners): Identify {
  const trusted = trustedList(proxies);
  return (credentials) => {
    const stated = credentials.header(header);
    if (stated === undefined) return undefined;
    const address = addressOf(credentials.from);
    if (!isIn(trusted, address)) {
      return refused(
        `The header ${header} counts only from a --trusted-proxy, which ${address || 'the caller'} is not`,
      );
    }
    const name = callerName(stated);
    if (name === undefined) return refused(`The header ${header} is not a name without blanks`);
    return { name, role: rulesOf(rules(), name).role };
  };
}

/** Throws UsageError. */
function trustedList(proxies: readonly string[]): BlockList {
  const list = new BlockList();
  for (const given of proxies) {
    const [, address = '', bits] = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(given) ?? [];
    const family = isIP(address);
    const most = family === 4 ? 32 : 128;
    const prefix = bits === undefined ? most : Number(bits);
    if (family === 0 || prefix > most) {
      throw new UsageError(
        `Expected an address or a network such as 10.0.0.7 or 10.0.0.0/8 for --trusted-proxy but received '${given}'`,
      );
    }
    list.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

/** The address in ADDRESS:PORT. */
const addressOf = (from: string): string => from.slice(0, Math.max(0, from.lastIndexOf(':'))).replace(/^\[|\]$/g, '');

function isIn(list: BlockList, address: string): boolean {
  const family = isIP(address);
  return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

const refused = (sentence: string): Denial => ({ kind: 'unauthenticated', sentence, name: '' });
