/**
 * The plan is read ahead up to this many waiting shards: some seconds of work for a hundred nodes, and a few megabytes.
 */
const usualShards = 4096;

/**
 * The most sources in waiting shards and in kept shards that are not read yet: a batch may have thousands. Their blocks
 * take some 23 bytes each until they are done.
 */
const maxQueuedSources = 2 ** 16;

/** Holds back the plan of a job while enough of it waits. */
export class QueueRoom {
  readonly #waiting: () => { shards: number; sources: number };
  readonly #maxShards: number;
  #room = Promise.withResolvers<void>();

  /** `waiting` counts the shards that wait for nodes, and the sources in them and in kept shards. */
  constructor(waiting: () => { shards: number; sources: number }, maxShards = usualShards) {
    this.#waiting = waiting;
    this.#maxShards = maxShards;
  }

  /** Resolves when more of the plan is wanted. */
  async wait(): Promise<void> {
    if (this.#full() < 1) return;
    this.#room = Promise.withResolvers();
    await this.#room.promise;
  }

  /** Fewer shards wait. */
  shrank(): void {
    if (this.#full() <= 1 / 2) this.#room.resolve();
  }

  /** Ends a wait. */
  end(): void {
    this.#room.resolve();
  }

  #full(): number {
    const { shards, sources } = this.#waiting();
    return Math.max(shards / this.#maxShards, sources / maxQueuedSources);
  }
}
