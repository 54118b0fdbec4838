import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

/** The addresses of a host. Rejects if there are none, or nobody says. */
export type Lookup = (host: string) => Promise<string[]>;

/** One family only: a host with an address of each is one coordinator. */
const lookupAll: Lookup = async (host) => {
  const found = await lookup(host, { all: true, family: 4 }).catch(() => lookup(host, { all: true, family: 6 }));
  return found.map(({ address, family }) => (family === 6 ? `[${address}]` : address));
};

/**
 * The addresses to dial for the coordinators that a node was given. A name of several addresses, such as a headless
 * service of Kubernetes, stands for a coordinator at each of them; a name of one address is dialled by its name.
 */
export class CoordinatorRecords {
  readonly #given: readonly string[];
  readonly #lookup: Lookup;
  /** The addresses found last, by what was given. */
  readonly #found = new Map<string, string[]>();
  readonly #names = new Map<string, string>();

  /** `given`: HOST:PORT each. */
  constructor(given: readonly string[], lookup: Lookup = lookupAll) {
    this.#given = given;
    this.#lookup = lookup;
  }

  /** Whether the addresses may change. */
  get mayChange(): boolean {
    return this.#given.some((address) => isName(hostOf(address)));
  }

  /** The name that an address was found by; undefined if the address itself was given. */
  readonly nameOf = (address: string): string | undefined => this.#names.get(address);

  /** Looks names up again. A name that cannot be looked up keeps its addresses. */
  async addresses(): Promise<string[]> {
    const all = await Promise.all(this.#given.map((address) => this.#addressesOf(address)));
    return [...new Set(all.flat())];
  }

  /** Looks names up again and again, and tells the addresses, until the returned function is called. */
  watch(everyMs: number, tell: (addresses: string[]) => Promise<void>): () => void {
    let isBusy = false;
    const timer = setInterval(() => {
      if (isBusy) return;
      isBusy = true;
      void this.addresses()
        .then(tell)
        .finally(() => {
          isBusy = false;
        });
    }, everyMs);
    return () => clearInterval(timer);
  }

  async #addressesOf(given: string): Promise<string[]> {
    const host = hostOf(given);
    if (!isName(host)) return [given];
    const before = this.#found.get(given);
    const found = await this.#lookup(host).catch(() => []);
    if (found.length === 0) return before ?? [given];
    // While one of several coordinators is away, the other keeps the address at which it is dialled.
    if (found.length === 1 && !before) return [given];
    const addresses = found.map((address) => `${address}${given.slice(host.length)}`).sort();
    for (const address of addresses) this.#names.set(address, host);
    this.#found.set(given, addresses);
    return addresses;
  }
}

const hostOf = (address: string): string => address.slice(0, address.lastIndexOf(':'));
const isName = (host: string): boolean => host !== 'localhost' && isIP(host.replace(/^\[(.*)\]$/, '$1')) === 0;
