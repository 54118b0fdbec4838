import { Worker } from 'node:worker_threads';
import { LateThread, limitConcurrency, sayEnd, ThreadClient } from '@halogrid/threads';
import { coresHere } from '@halogrid/threads/limits';
import type { MapCodec } from '../layout/map-codec.ts';
import type { CompressOrder } from './compress-worker.ts';

/** The most threads: reading and writing keep no more of them busy. */
const mostThreads = 8;

/** Compresses tiles on threads, which start with the first tile. They hold one tile each, and one more is read. */
export class CompressThreads {
  readonly #threads: LateThread<CompressOrder, Uint8Array>[];
  readonly #inTurn: ReturnType<typeof limitConcurrency>;
  #tiles = 0;

  constructor(count = Math.min(mostThreads, coresHere())) {
    this.#threads = Array.from({ length: count }, () => new LateThread(start));
    this.#inTurn = limitConcurrency(count + 1);
  }

  /** How many tiles should be asked for ahead, so that no thread waits. */
  get ahead(): number {
    return 2 * this.#threads.length;
  }

  /** Compresses the bytes that `read` gives, once a thread is nearly free. Their memory moves to the thread. */
  compress(codec: MapCodec, read: () => Promise<Uint8Array<ArrayBuffer>>): Promise<Uint8Array> {
    return this.#inTurn(async () => {
      const bytes = await read();
      const thread = this.#threads[this.#tiles++ % this.#threads.length]!;
      return await thread.client.order({ codec, bytes }, [bytes.buffer]);
    });
  }

  async end(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.end()));
  }
}

const start = (): ThreadClient<CompressOrder, Uint8Array> =>
  new ThreadClient(new Worker(new URL('./compress-worker.ts', import.meta.url)), {
    ended: (end) => new Error(`A thread that compresses maps has ended: ${sayEnd(end)}`),
  });
