import {
  FencedError,
  type JobChange,
  type JobShares,
  MemoryRegistry,
  type Registry,
  type RegistryMemory,
} from '@halogrid/ledger';
import { SharedMemoryRegistry, SharesMemory } from '@halogrid/ledger/testing-shared-memory-registry';
import type { VirtualClock } from './virtual-clock.ts';

/** The registry that all coordinators of a cluster share. */
export interface RegistryWorld {
  clock: VirtualClock;
  memory: RegistryMemory | SharesMemory;
  /** How long a transaction takes: half before it is made, half until that is known. */
  commitMs: number;
  /** While set, nothing can be written. */
  failure: Error | undefined;
}

/** The registry as one process sees it. The process may stand still, or die at any moment of a transaction. */
export class SimulatedRegistry implements Registry {
  /** The process is dead: it writes nothing more, and learns nothing more of its writes. */
  isDead = false;
  /** Resolves when the process runs. */
  running: Promise<void> = Promise.resolve();
  /** Present if several coordinators lead. Answers at once, but never to a dead process. */
  readonly shares?: JobShares;
  readonly #world: RegistryWorld;
  readonly #registry: Registry;

  constructor(world: RegistryWorld) {
    this.#world = world;
    const { memory, clock } = world;
    const nowMs = () => clock.monotonicMs();
    this.#registry =
      memory instanceof SharesMemory ? new SharedMemoryRegistry(memory, nowMs) : new MemoryRegistry({ memory, nowMs });
    const { shares } = this.#registry;
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
    return this.#registry.acquire(holder, leaseMs);
  }

  renew(epoch: number, leaseMs: number): Promise<boolean> {
    return this.#registry.renew(epoch, leaseMs);
  }

  release(epoch: number): Promise<void> {
    return this.#registry.release(epoch);
  }

  leader(): ReturnType<Registry['leader']> {
    return this.#registry.leader();
  }

  jobs(ids?: readonly string[]): ReturnType<Registry['jobs']> {
    return this.#registry.jobs(ids);
  }

  async write(epoch: number, told: readonly JobChange[]): Promise<void> {
    const changes = structuredClone(told);
    await this.#pass();
    if (this.isDead) throw new FencedError(epoch, undefined);
    if (this.#world.failure) throw this.#world.failure;
    await this.#registry.write(epoch, changes);
    await this.#pass();
    if (this.isDead) throw new FencedError(epoch, undefined);
    await this.running;
  }

  writeHistories(epoch: number, histories: ReadonlyMap<string, string>): Promise<void> {
    return this.#ask(() => this.#registry.writeHistories(epoch, histories));
  }

  history(jobId: string): Promise<string | undefined> {
    return this.#ask(() => this.#registry.history(jobId));
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
    return this.#registry.close();
  }

  async #pass(): Promise<void> {
    const { clock, commitMs } = this.#world;
    if (commitMs > 0) await new Promise<void>((resolve) => clock.after(commitMs / 2, resolve));
  }
}
