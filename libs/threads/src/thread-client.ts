import type { Transferable, Worker } from 'node:worker_threads';
import { endBefore, endThread } from './end-thread.ts';
import type { SentAnswer, SentOrder } from './serve-orders.ts';

/** How a thread has ended: by an uncaught error, or with an exit code. */
export type ThreadEnd = { error: Error } | { code: number };

export interface ThreadClientOptions {
  /** The error for orders without an answer when the thread has ended. */
  ended(end: ThreadEnd): Error;
  /** Makes an error of a failure that the thread's `pack` converted. Default: an Error with that text. */
  unpack?(failure: unknown): Error;
}

/**
 * Sends orders to a thread whose program calls serveOrders. Only unanswered orders keep the process alive. Orders of
 * one turn of the event loop go in one message, because a thread that opens thousands of images a second has no time
 * for more.
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

  /** Owns the thread until `release` or `end`. */
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

  /** Resolves with the error for later orders when the thread has ended; never after `release`. */
  get whenEnded(): Promise<Error> {
    return this.#end.promise;
  }

  /**
   * Resolves with the answer. Rejects with the thread's failure, or with the error of `ended` if the thread ends before
   * it answers.
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

  /** Gives the thread, which must have no unfinished order, to the caller. Later orders reject with `reason`. */
  release(reason = new Error('The thread serves others')): Worker {
    this.#ended ??= reason;
    return this.#worker.off('message', this.#take).off('error', this.#onError).off('exit', this.#onExit);
  }

  /** Ends the thread between two of its tasks. May be called again. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await endThread(this.#worker);
  }

  /** Ends the thread in the middle of its work. Only for programs that load no native module: see `endThread`. */
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
    // A caller of `end` waits for the thread's end, which comes after the last answer.
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
