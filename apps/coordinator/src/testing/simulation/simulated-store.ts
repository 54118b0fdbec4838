import type { JobShares } from '../../ledger/store/job-shares.ts';
import { type Change, type EntryFilter, FencedError, type LedgerStore } from '../../ledger/store/ledger-store.ts';
import { SharedMemoryStore, SharesMemory } from '../../ledger/store/memory-shares.ts';
import { MemoryStore, type SharedMemory } from '../../ledger/store/memory-store.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** The store that all coordinators of a cluster share. */
export interface StoreWorld {
  clock: VirtualClock;
  memory: SharedMemory | SharesMemory;
  /** What a transaction takes: half of it before it is made, half until that is known. */
  commitMs: number;
  /** While set, nothing can be written. */
  failure: Error | undefined;
}

/** The store as one process sees it, which may die at any moment of a transaction, and stand still. */
export class SimulatedStore implements LedgerStore {
  /** The process is dead: nothing of it is written, and nothing that it wrote is known to it. */
  isDead = false;
  /** Resolves when the process runs. */
  running: Promise<void> = Promise.resolve();
  /** Where several lead. What they ask of it is answered at once, and never to a process that is dead. */
  readonly shares?: JobShares;
  readonly #world: StoreWorld;
  readonly #store: LedgerStore;

  constructor(world: StoreWorld) {
    this.#world = world;
    const { memory, clock } = world;
    const nowMs = () => clock.monotonicMs();
    this.#store =
      memory instanceof SharesMemory ? new SharedMemoryStore(memory, nowMs) : new MemoryStore({ memory, nowMs });
    const { shares } = this.#store;
    if (!shares) return;
    this.shares = {
      look: (epoch, now) => this.#ask(() => shares.look(epoch, now)),
      adopt: (epoch, orphans) => this.#ask(() => shares.adopt(epoch, orphans)),
      cancel: (jobId) => this.#ask(() => shares.cancel(jobId)),
      ask: (jobId, what) => this.#ask(() => shares.ask(jobId, what)),
      answer: (id, text) => this.#ask(() => shares.answer(id, text)),
      takeAnswer: (id) => this.#ask(() => shares.takeAnswer(id)),
    };
  }

  acquire(holder: string, leaseMs: number): Promise<number | undefined> {
    return this.#store.acquire(holder, leaseMs);
  }

  renew(epoch: number, leaseMs: number): Promise<boolean> {
    return this.#store.renew(epoch, leaseMs);
  }

  release(epoch: number): Promise<void> {
    return this.#store.release(epoch);
  }

  leader(): ReturnType<LedgerStore['leader']> {
    return this.#store.leader();
  }

  entries(of?: EntryFilter): ReturnType<LedgerStore['entries']> {
    return this.#store.entries(of);
  }

  async write(epoch: number, changes: readonly Change[]): Promise<void> {
    const values = changes.map((change) => {
      return change.kind === undefined || !change.value ? change : { ...change, value: new Uint8Array(change.value) };
    });
    await this.#pass();
    if (this.isDead) throw new FencedError(epoch, undefined);
    if (this.#world.failure) throw this.#world.failure;
    await this.#store.write(epoch, values);
    await this.#pass();
    if (this.isDead) throw new FencedError(epoch, undefined);
    await this.running;
  }

  async #ask<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    await this.running;
    if (this.isDead) throw new Error('The process is dead');
    if (this.#world.failure) throw this.#world.failure;
    const answer = await ask();
    await this.running;
    return answer;
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #pass(): Promise<void> {
    const { clock, commitMs } = this.#world;
    if (commitMs > 0) await new Promise<void>((resolve) => clock.after(commitMs / 2, resolve));
  }
}
