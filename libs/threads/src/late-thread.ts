import type { ThreadClient } from './thread-client.ts';

/** A thread that starts when it is wanted first, and again when it is wanted after it has ended. */
export class LateThread<Order, Answer> {
  readonly #start: () => ThreadClient<Order, Answer>;
  #client: ThreadClient<Order, Answer> | undefined;

  constructor(start: () => ThreadClient<Order, Answer>) {
    this.#start = start;
  }

  /** The one that is there; another one once it has ended. */
  get client(): ThreadClient<Order, Answer> {
    if (!this.#client || this.#client.hasEnded) this.#client = this.#start();
    return this.#client;
  }

  /** Ends the one that is there, if any, between two of its tasks. */
  async end(): Promise<void> {
    await this.#client?.end();
  }
}
