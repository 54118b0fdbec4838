const firstRetryMs = 100;
const longestRetryMs = 5_000;

interface Held {
  /** Settles when the changes are written or given up; absent while they are tried again. */
  waiter?: PromiseWithResolvers<void> | undefined;
  failure: Error;
  retryMs: number;
}

/**
 * Changes that a journal cannot write for now, and the callers that wait for them. Each is tried again separately, with
 * pauses that double up to 5 seconds.
 */
export class HeldChanges<What> {
  readonly #pause: (ms: number) => Promise<void>;
  readonly #tryAgain: (what: What, waiter: PromiseWithResolvers<void>) => void;
  readonly #held = new Map<What, Held>();
  #isClosed = false;

  constructor(
    pause: (ms: number) => Promise<void>,
    tryAgain: (what: What, waiter: PromiseWithResolvers<void>) => void,
  ) {
    this.#pause = pause;
    this.#tryAgain = tryAgain;
  }

  /** Why the changes of `what` are held; undefined if they are not. */
  failure(what: What): Error | undefined {
    return this.#held.get(what)?.failure;
  }

  /** The callers that wait for the changes that are to be tried again. */
  waiter(what: What): PromiseWithResolvers<void> | undefined {
    return this.#held.get(what)?.waiter;
  }

  hold(what: What, { waiter, failure }: Omit<Held, 'retryMs'>): void {
    const retryMs = Math.min(2 * (this.#held.get(what)?.retryMs ?? firstRetryMs / 2), longestRetryMs);
    const held = { waiter, failure, retryMs };
    this.#held.set(what, held);
    void this.#pause(retryMs).then(() => {
      if (this.#isClosed || this.#held.get(what) !== held || !waiter) return;
      this.#held.set(what, { ...held, waiter: undefined });
      this.#tryAgain(what, waiter);
    });
  }

  /** The changes are written, or given up. */
  release(what: What): void {
    this.#held.delete(what);
  }

  /** Gives up all held changes: their callers' promises reject with `error`, or with the reason why they were held. */
  close(error?: Error): void {
    this.stop();
    for (const { waiter, failure } of this.#held.values()) waiter?.reject(error ?? failure);
  }

  /** Stops trying, and answers no caller. */
  stop(): void {
    this.#isClosed = true;
  }
}
