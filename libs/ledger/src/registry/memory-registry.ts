import { JobsInMemory } from './jobs-in-memory.ts';
import { FencedError, type JobChange, type Leader, type RegisteredJob, type Registry } from './registry.ts';

/** State that several registries in memory share, as if they were on one database. */
export class RegistryMemory {
  readonly jobs = new JobsInMemory();
  epoch = 0;
  holder: string | undefined;
  leaseEndMs = 0;
}

export interface MemoryRegistryOptions {
  memory?: RegistryMemory;
  /** The registry's clock. */
  nowMs?: () => number;
}

/** A registry in memory: for coordinators whose jobs are only in their folders, for tests and for the simulation. */
export class MemoryRegistry implements Registry {
  /** While set, writes reject with it and change nothing. */
  failure: Error | undefined;
  readonly #memory: RegistryMemory;
  readonly #nowMs: () => number;

  constructor({ memory = new RegistryMemory(), nowMs = () => performance.now() }: MemoryRegistryOptions = {}) {
    this.#memory = memory;
    this.#nowMs = nowMs;
  }

  async acquire(holder: string, leaseMs: number): Promise<number | undefined> {
    const memory = this.#memory;
    if (memory.holder !== undefined && this.#nowMs() < memory.leaseEndMs) return undefined;
    memory.holder = holder;
    memory.leaseEndMs = this.#nowMs() + leaseMs;
    memory.jobs.takeAll(++memory.epoch);
    return memory.epoch;
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

  async *jobs(ids?: readonly string[]): AsyncIterable<RegisteredJob> {
    for (const job of this.#memory.jobs.all()) {
      const { jobId, spec, status, marks, leader, epoch } = job;
      if (!ids || ids.includes(jobId)) yield { jobId, spec, status, marks, leader, epoch };
    }
  }

  async write(epoch: number, changes: readonly JobChange[]): Promise<void> {
    if (this.failure) throw this.failure;
    if (!this.#leads(epoch) || !this.#memory.jobs.write(epoch, changes)) {
      throw new FencedError(epoch, await this.leader());
    }
  }

  async writeHistories(epoch: number, histories: ReadonlyMap<string, string>): Promise<void> {
    if (this.failure) throw this.failure;
    this.#memory.jobs.writeHistories(epoch, histories);
  }

  async history(jobId: string): Promise<string | undefined> {
    return this.#memory.jobs.history(jobId);
  }

  async close(): Promise<void> {}

  #leads(epoch: number): boolean {
    return this.#memory.holder !== undefined && this.#memory.epoch === epoch;
  }
}
