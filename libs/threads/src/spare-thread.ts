import { type ResourceLimits, Worker } from 'node:worker_threads';
import { endThread } from './end-thread.ts';

/**
 * A worker thread that is started before it is needed, and kept for the next owner: a start takes 60 to 100 ms, longer
 * than everything else that a small job waits for (measured). Its program calls serveOrders and remembers nothing
 * between owners.
 */
export class SpareThread {
  readonly #start: () => Worker;
  #spare: Worker | undefined;

  /** `resourceLimits`: as for Worker. */
  constructor(program: URL, resourceLimits: ResourceLimits = {}) {
    this.#start = () => new Worker(program, { resourceLimits });
  }

  /** Starts the thread, unless one waits already. A waiting thread does not keep the process alive. */
  prepare(): void {
    if (!this.#spare) this.give(this.#start());
  }

  /** The waiting thread, or a new one. It belongs to the caller. */
  take(): Worker {
    const thread = this.#spare ?? this.#start();
    thread.off('error', this.#forget).off('exit', this.#forget).ref();
    this.#spare = undefined;
    return thread;
  }

  /**
   * Takes back a thread that waits for orders and has no listeners. Keeps it, or ends it if another one is kept
   * already.
   */
  give(thread: Worker): void {
    thread.unref();
    if (this.#spare) {
      // The end of this thread must not forget the kept one.
      void endThread(thread.on('error', () => {}));
      return;
    }
    this.#spare = thread.on('error', this.#forget).on('exit', this.#forget);
  }

  readonly #forget = (): void => {
    this.#spare = undefined;
  };
}
