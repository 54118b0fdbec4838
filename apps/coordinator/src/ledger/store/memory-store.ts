import {
  type Change,
  type Entry,
  type EntryFilter,
  FencedError,
  type Leader,
  type LedgerStore,
} from './ledger-store.ts';

/** What stores of one memory share, as those of one database do. */
export class SharedMemory {
  readonly entries = new Map<string, Entry>();
  epoch = 0;
  holder: string | undefined;
  leaseEndMs = 0;
}

export interface MemoryStoreOptions {
  memory?: SharedMemory;
  /** The store's clock. */
  nowMs?: () => number;
}

/** A store that forgets, for tests and the simulation. */
export class MemoryStore implements LedgerStore {
  /** While set, writes reject with it and change nothing. */
  failure: Error | undefined;
  readonly #memory: SharedMemory;
  readonly #nowMs: () => number;

  constructor({ memory = new SharedMemory(), nowMs = () => performance.now() }: MemoryStoreOptions = {}) {
    this.#memory = memory;
    this.#nowMs = nowMs;
  }

  async acquire(holder: string, leaseMs: number): Promise<number | undefined> {
    const memory = this.#memory;
    if (memory.holder !== undefined && this.#nowMs() < memory.leaseEndMs) return undefined;
    memory.holder = holder;
    memory.leaseEndMs = this.#nowMs() + leaseMs;
    return ++memory.epoch;
  }

  async renew(epoch: number, leaseMs: number): Promise<boolean> {
    if (!this.#leads(epoch)) return false;
    this.#memory.leaseEndMs = this.#nowMs() + leaseMs;
    return true;
  }

  async release(epoch: number): Promise<void> {
    if (this.#leads(epoch)) this.#memory.holder = undefined;
  }

  async leader(): Promise<Leader | undefined> {
    const { holder, epoch, leaseEndMs } = this.#memory;
    return holder === undefined || this.#nowMs() >= leaseEndMs ? undefined : { holder, epoch };
  }

  async *entries({ jobId, kind }: EntryFilter = {}): AsyncIterable<Entry> {
    const found = [...this.#memory.entries.values()].filter(
      (entry) => (jobId ?? entry.jobId) === entry.jobId && (kind ?? entry.kind) === entry.kind,
    );
    for (const entry of found.sort(compare)) yield { ...entry, value: new Uint8Array(entry.value) };
  }

  async write(epoch: number, changes: readonly Change[]): Promise<void> {
    if (this.failure) throw this.failure;
    if (!this.#leads(epoch)) throw new FencedError(epoch, await this.leader());
    const { entries } = this.#memory;
    for (const change of changes) {
      if (change.kind === undefined) {
        for (const [place, { jobId }] of entries) if (jobId === change.jobId) entries.delete(place);
        continue;
      }
      const { jobId, kind, key, value } = change;
      const place = JSON.stringify([jobId, kind, key]);
      if (value) entries.set(place, { jobId, kind, key, value: new Uint8Array(value) });
      else entries.delete(place);
    }
  }

  async close(): Promise<void> {}

  #leads(epoch: number): boolean {
    return this.#memory.holder !== undefined && this.#memory.epoch === epoch;
  }
}

function compare(a: Entry, b: Entry): number {
  if (a.jobId !== b.jobId) return a.jobId < b.jobId ? -1 : 1;
  if (a.kind !== b.kind) return a.kind < b.kind ? -1 : 1;
  return a.key - b.key;
}
