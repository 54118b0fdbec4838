import { setImmediate as others } from 'node:timers/promises';

/** Short enough that nothing waits noticeably, and long enough that giving way costs next to nothing. */
const turnMs = 10;

/** Lets other work of the thread run now and then, in the middle of long work. */
export class Turns {
  #startedMs = performance.now();

  /** Whether other work has waited long enough: then await `giveWay`. */
  get isOver(): boolean {
    return performance.now() - this.#startedMs > turnMs;
  }

  async giveWay(): Promise<void> {
    await others();
    this.#startedMs = performance.now();
  }
}
