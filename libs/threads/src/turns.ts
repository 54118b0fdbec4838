import { setImmediate as others } from 'node:timers/promises';

/** Short enough that nobody waits for it, and long enough that giving way costs next to nothing. */
const turnMs = 10;

/** Lets whatever else a thread has to do have it now and then, in the middle of work that would keep it. */
export class Turns {
  #startedMs = performance.now();

  /** Whether the others have waited long enough: then `giveWay` is to be awaited. */
  get isOver(): boolean {
    return performance.now() - this.#startedMs > turnMs;
  }

  async giveWay(): Promise<void> {
    await others();
    this.#startedMs = performance.now();
  }
}
