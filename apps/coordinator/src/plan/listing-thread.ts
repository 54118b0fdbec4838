import { type MessagePort, Worker } from 'node:worker_threads';
import { sourceAccess } from '@halogrid/sources';
import { endThread, ThreadLife } from '@halogrid/threads';

export interface ThreadLimits {
  /**
   * A thread that computes for this long without a sign of life is ended. The longest single step of a plan takes less
   * than a tenth of that.
   */
  stuckComputedMs: number;
  /** The same by the clock, for systems that do not say how long a thread computes. */
  stuckMs: number;
  /** A thread that has not stopped this long after its order was given up is ended. */
  stopMs: number;
  /** The most memory for objects. */
  heapMb: number;
}

export const threadLimits: ThreadLimits = { stuckComputedMs: 20_000, stuckMs: 120_000, stopMs: 3_000, heapMb: 2048 };

const lookEveryMs = 500;
/** A program is loaded by then, even on a busy machine. */
const startsWithinMs = 30_000;

/** What the program of a thread is started with. */
export interface ThreadSetup {
  access: ReturnType<typeof sourceAccess>;
  life: Int32Array<SharedArrayBuffer>;
}

/** A thread that obeys one order at a time, and that can be ended in the middle of an order. */
export class ListingThread {
  readonly #worker: Worker;
  readonly #limits: ThreadLimits;
  readonly #life = new ThreadLife();
  /** Resolves with the reason why the thread has ended, as a clause. */
  readonly #ended = Promise.withResolvers<string>();
  #hasEnded = false;
  /** Why this class has ended the thread; undefined if it has not. */
  #reason: string | undefined;
  #stopped = Promise.withResolvers<void>();

  constructor(program: URL, limits: ThreadLimits) {
    this.#limits = limits;
    const setup: ThreadSetup = { access: sourceAccess(), life: this.#life.shown };
    this.#worker = new Worker(program, {
      workerData: setup,
      resourceLimits: { maxOldGenerationSizeMb: limits.heapMb },
    });
    let failure: string | undefined;
    this.#worker.on('message', () => this.#stopped.resolve());
    this.#worker.on('error', (error: Error & { code?: string }) => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      failure = isMemory ? `it took more than ${limits.heapMb} MiB of memory` : error.message;
    });
    this.#worker.on('exit', (code) => this.#over(failure ?? `it exited with ${code}`));
    // The thread does not keep the process from ending; the ports of its orders do.
    this.#worker.unref();
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Resolves when the thread has ended, with the reason as a clause. */
  get ended(): Promise<string> {
    return this.#ended.promise;
  }

  /** The index of the source, among the sources of its order, that the thread is at. */
  get source(): number {
    return this.#life.source;
  }

  /** Sends the thread an order, which it answers through the port, and watches it until `stop`. */
  obey(order: { port: MessagePort }): void {
    this.#stopped = Promise.withResolvers();
    this.#worker.postMessage(order, [order.port]);
    this.#watch();
  }

  /**
   * To be called when no more answers are wanted; the thread learns this from its closed port. Resolves when the
   * thread can obey another order, or has ended.
   */
  async stop(): Promise<void> {
    const late = setTimeout(() => void this.end(), this.#limits.stopMs);
    await this.#stopped.promise;
    clearTimeout(late);
  }

  /** Ends the thread between two of its tasks, or in the middle of a task that takes too long. */
  async end(): Promise<void> {
    const sinceMs = performance.now();
    const late = setInterval(() => {
      // Stopping a thread while it loads a native module may end the process: see endThread.
      if (!this.#life.hasBegun && performance.now() - sinceMs < startsWithinMs) return;
      clearInterval(late);
      this.#terminate();
    }, this.#limits.stopMs);
    void endThread(this.#worker);
    await this.#ended.promise;
    clearInterval(late);
  }

  /** A thread in a system call ends when the call returns; this does not wait for it. */
  #terminate(): void {
    void this.#worker.terminate();
    this.#worker.unref();
    const late = setTimeout(() => this.#over('it is in a call that does not return'), this.#limits.stopMs);
    void this.#ended.promise.then(() => clearTimeout(late));
  }

  #over(why: string): void {
    this.#hasEnded = true;
    this.#ended.resolve(this.#reason ?? why);
    this.#stopped.resolve();
  }

  /** Watches the thread until the order is over. */
  #watch(): void {
    let { beats } = this.#life;
    let sinceMs = performance.now();
    let computedMs = this.#life.computedMs();
    const { promise } = this.#stopped;
    const timer = setInterval(() => {
      const now = this.#life.computedMs();
      if (this.#life.beats !== beats) {
        beats = this.#life.beats;
        sinceMs = performance.now();
        computedMs = now;
        return;
      }
      computedMs ??= now;
      const { stuckComputedMs, stuckMs } = this.#limits;
      const isStuck =
        now === undefined || computedMs === undefined
          ? performance.now() - sinceMs > stuckMs
          : now - computedMs > stuckComputedMs;
      if (!isStuck) return;
      this.#reason = `it gave no sign of life for ${stuckComputedMs / 1000} s of processor time`;
      clearInterval(timer);
      this.#terminate();
    }, lookEveryMs);
    void promise.then(() => clearInterval(timer));
  }
}
