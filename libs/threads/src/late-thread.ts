import type { ThreadClient } from './thread-client.ts';

/** A thread that starts when it is first needed, and again if it is needed after it has ended. */
export class LateThread<Order, Answer> {
  readonly #start: () => ThreadClient<Order, Answer>;
  #client: ThreadClient<Order, Answer> | undefined;

  constructor(start: () => ThreadClient<Order, Answer>) {
    this.#start = start;
  }

  /** The client of the present thread, or of a new one if that has ended. */
  get client(): ThreadClient<Order, Answer> {
    if (!this.#client || this.#client.hasEnded) this.#client = this.#start();
    return this.#client;
  }

  /** Ends the present thread, if any, between two of its tasks. */
  async end(): Promise<void> {
    await this.#client?.end();
  }
}
