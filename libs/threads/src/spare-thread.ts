import { type ResourceLimits, Worker } from 'node:worker_threads';
import { endThread } from './end-thread.ts';

/**
 * A worker thread that is started before it is wanted and kept for the next who wants one: a start takes 60 to 100 ms,
 * longer than all else that a small job waits for (measured). Its program calls serveOrders and remembers nothing
 * between owners.
 */
export class SpareThread {
  readonly #start: () => Worker;
  #spare: Worker | undefined;

  /** `resourceLimits`: as Worker has them. */
  constructor(program: URL, resourceLimits: ResourceLimits = {}) {
    this.#start = () => new Worker(program, { resourceLimits });
  }

  /** Starts the thread, unless it waits already. It keeps no process from ending. */
  prepare(): void {
    if (!this.#spare) this.give(this.#start());
  }

  /** The thread that waits, or a new one; it is the caller's. */
  take(): Worker {
    const thread = this.#spare ?? this.#start();
    thread.off('error', this.#forget).off('exit', this.#forget).ref();
    this.#spare = undefined;
    return thread;
  }

  /** Keeps a thread that waits for its next order and that nobody listens to; where one is kept already, ends it. */
  give(thread: Worker): void {
    thread.unref();
    if (this.#spare) {
      // Its end is not that of the one that is kept.
      void endThread(thread.on('error', () => {}));
      return;
    }
    this.#spare = thread.on('error', this.#forget).on('exit', this.#forget);
  }

  readonly #forget = (): void => {
    this.#spare = undefined;
  };
}
