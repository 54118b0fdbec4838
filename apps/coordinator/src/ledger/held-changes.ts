import type { Journaled } from './journal.ts';
import type { Change } from './store/ledger-store.ts';

const firstRetryMs = 100;
const longestRetryMs = 5_000;

interface Held {
  changes: readonly Change[];
  /** Who waits for it; absent while it is tried again. */
  waiter?: PromiseWithResolvers<void> | undefined;
  failure: Error;
  retryMs: number;
}

/** What a journal cannot make durable for now, each tried again by itself, with pauses that double up to 5 seconds. */
export class HeldChanges {
  readonly #pause: (ms: number) => Promise<void>;
  readonly #tryAgain: (what: Journaled, waiter: PromiseWithResolvers<void>) => void;
  readonly #held = new Map<Journaled, Held>();
  #isClosed = false;

  constructor(
    pause: (ms: number) => Promise<void>,
    tryAgain: (what: Journaled, waiter: PromiseWithResolvers<void>) => void,
  ) {
    this.#pause = pause;
    this.#tryAgain = tryAgain;
  }

  /** Why it is held; undefined where it is not. */
  failure(what: Journaled): Error | undefined {
    return this.#held.get(what)?.failure;
  }

  /** Those who wait for it to be tried again. */
  waiter(what: Journaled): PromiseWithResolvers<void> | undefined {
    return this.#held.get(what)?.waiter;
  }

  /** What was not written of it, and is to be before anything else. */
  changes(what: Journaled): readonly Change[] {
    return this.#held.get(what)?.changes ?? [];
  }

  hold(what: Journaled, { changes, waiter, failure }: Omit<Held, 'retryMs'>): void {
    const retryMs = Math.min(2 * (this.#held.get(what)?.retryMs ?? firstRetryMs / 2), longestRetryMs);
    const held = { changes, waiter, failure, retryMs };
    this.#held.set(what, held);
    void this.#pause(retryMs).then(() => {
      if (this.#isClosed || this.#held.get(what) !== held || !waiter) return;
      this.#held.set(what, { ...held, waiter: undefined });
      this.#tryAgain(what, waiter);
    });
  }

  /** It is written, or given up. */
  release(what: Journaled): void {
    this.#held.delete(what);
  }

  /** Gives all of it up. */
  close(): void {
    this.#isClosed = true;
    for (const { waiter, failure } of this.#held.values()) waiter?.reject(failure);
  }
}
