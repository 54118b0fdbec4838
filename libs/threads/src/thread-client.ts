import type { Transferable, Worker } from 'node:worker_threads';
import { endBefore, endThread } from './end-thread.ts';
import type { SentAnswer, SentOrder } from './serve-orders.ts';

/** How a thread has ended: by an error that nothing caught there, or with an exit code. */
export type ThreadEnd = { error: Error } | { code: number };

export interface ThreadClientOptions {
  /** What orders that have no answer reject with when the thread has ended. */
  ended(end: ThreadEnd): Error;
  /** The error that the `pack` of the thread made a message of; one of that text unless given. */
  unpack?(failure: unknown): Error;
}

/**
 * Sends orders to a thread whose program calls serveOrders. The process stays for answers, and for nothing else of the
 * thread. The orders of one turn of the event loop go in one message: a thread that opens thousands of images a second
 * has no time for more.
 */
export class ThreadClient<Order, Answer> {
  readonly #worker: Worker;
  readonly #options: ThreadClientOptions;
  readonly #waiting = new Map<number, PromiseWithResolvers<Answer>>();
  #orders: SentOrder<Order>[] = [];
  #moved: Transferable[] = [];
  #lastId = 0;
  #ended: Error | undefined;
  #isEnding = false;
  readonly #end = Promise.withResolvers<Error>();

  /** Takes the thread over, until `release` or `end`. */
  constructor(worker: Worker, options: ThreadClientOptions) {
    this.#worker = worker;
    this.#options = options;
    endBefore(worker);
    worker.on('message', this.#take).on('error', this.#onError).on('exit', this.#onExit).unref();
  }

  /** Whether the thread has ended, for whatever reason. */
  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Resolves with what orders then reject with when the thread has ended; never after `release`. */
  get whenEnded(): Promise<Error> {
    return this.#end.promise;
  }

  /**
   * Resolves with the answer; rejects with what went wrong there, or with `ended` where the thread is gone before it
   * answers.
   */
  order(order: Order, moved: readonly Transferable[] = []): Promise<Answer> {
    if (this.#ended) return Promise.reject(this.#ended);
    const answer = Promise.withResolvers<Answer>();
    const id = ++this.#lastId;
    if (this.#waiting.size === 0) this.#worker.ref();
    this.#waiting.set(id, answer);
    this.#moved.push(...moved);
    if (this.#orders.push({ id, order }) === 1) setImmediate(this.#send);
    return answer.promise;
  }

  /** Gives the thread, which has no order left to obey, to the caller. Orders that follow reject with `reason`. */
  release(reason = new Error('The thread serves others')): Worker {
    this.#ended ??= reason;
    return this.#worker.off('message', this.#take).off('error', this.#onError).off('exit', this.#onExit);
  }

  /** Ends the thread between two of its tasks. May be called again. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await endThread(this.#worker);
  }

  /** Ends the thread in the middle of what it does. Only for programs that load no native module: see `endThread`. */
  async terminate(): Promise<void> {
    this.#isEnding = true;
    await this.#worker.terminate();
  }

  readonly #send = (): void => {
    const [orders, moved] = [this.#orders, this.#moved];
    this.#orders = [];
    this.#moved = [];
    this.#worker.postMessage(orders, moved);
  };

  readonly #take = (answers: readonly SentAnswer<Answer>[]): void => {
    const { unpack = (failure) => new Error(String(failure)) } = this.#options;
    for (const answer of answers) {
      const { resolve, reject } = this.#waiting.get(answer.id)!;
      this.#waiting.delete(answer.id);
      if ('failure' in answer) reject(unpack(answer.failure));
      else resolve(answer.answer);
    }
    // Who ends the thread waits for its end, which is behind its last answer.
    if (this.#waiting.size === 0 && !this.#isEnding) this.#worker.unref();
  };

  readonly #onError = (error: Error): void => this.#fail({ error });
  readonly #onExit = (code: number): void => this.#fail({ code });

  #fail(end: ThreadEnd): void {
    this.#ended ??= this.#options.ended(end);
    this.#end.resolve(this.#ended);
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}

/** How a thread has ended, as a clause. */
export const sayEnd = (end: ThreadEnd): string => ('error' in end ? end.error.message : `it exited with ${end.code}`);
