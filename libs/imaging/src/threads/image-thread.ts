import { Worker } from 'node:worker_threads';
import { InputError, sourceAccess } from '@halogrid/sources';
import { endThread } from '@halogrid/threads';
import { MissingDecoderError } from '../missing-decoder-error.ts';
import type { ImageAnswer, ImageOrder, ImageThreadSetup, SentError } from './image-orders.ts';

type Unnumbered<Order> = Order extends unknown ? Omit<Order, 'id'> : never;

/** One thread that reads and decodes images. */
export class ImageThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<ImageAnswer>>();
  /** Of this turn of the event loop: one message for all of them. */
  #orders: ImageOrder[] = [];
  #lastId = 0;
  #ended: Error | undefined;

  /** `decoders` is its share of the threads of libuv's pool, on which all of the process decode. */
  constructor(decoders: number, program = new URL('./image-worker.ts', import.meta.url)) {
    const setup: ImageThreadSetup = { access: sourceAccess() };
    // The pool has its size from the process. Of a thread's own environment, the number only bounds what it keeps in flight.
    const env = { ...process.env, UV_THREADPOOL_SIZE: String(decoders) };
    this.#worker = new Worker(program, { workerData: setup, env });
    this.#worker.on('message', (answers: ImageAnswer[]) => this.#take(answers));
    this.#worker.on('error', (error: Error) => this.#end(error.message));
    this.#worker.on('exit', (code) => this.#end(`it exited with ${code}`));
    this.#worker.unref();
  }

  /** Whether it has ended, for whatever reason. */
  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Rejects with what went wrong there: InputError, or another error. */
  order(order: Unnumbered<ImageOrder>): Promise<ImageAnswer> {
    if (this.#ended) return Promise.reject(this.#ended);
    const id = this.#lastId++;
    const answer = Promise.withResolvers<ImageAnswer>();
    // The process stays for answers, and for nothing else of the thread.
    if (this.#waiting.size === 0) this.#worker.ref();
    this.#waiting.set(id, answer);
    if (this.#orders.push({ ...order, id }) === 1) setImmediate(() => this.#send());
    return answer.promise;
  }

  async close(): Promise<void> {
    await endThread(this.#worker);
  }

  #send(): void {
    const orders = this.#orders;
    this.#orders = [];
    this.#worker.postMessage(orders);
  }

  #take(answers: readonly ImageAnswer[]): void {
    for (const answer of answers) {
      const { resolve, reject } = this.#waiting.get(answer.id)!;
      this.#waiting.delete(answer.id);
      if (answer.error) reject(received(answer.error));
      else resolve(answer);
    }
    if (this.#waiting.size === 0) this.#worker.unref();
  }

  #end(why: string): void {
    this.#ended ??= new Error(`A thread that reads images has ended: ${why}`);
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}

function received({ message, input, decodes }: SentError): Error {
  if (decodes) return new MissingDecoderError(decodes, message);
  return input ? new InputError(input.stage, message, input) : new Error(message);
}
