import { Worker } from 'node:worker_threads';
import { addressOf } from '@halogrid/imaging/native-memory';
import { sourceAccess } from '@halogrid/sources';
import { sayEnd, ThreadClient } from '@halogrid/threads';
import { type AskedFile, packFiles } from './asked-files.ts';
import type { BatchOrder, BatchThreadSetup } from './batch-orders.ts';

/** Reads batches of files for devices on threads, each of which starts with the first batch that it is given. */
export class BatchThreads<Limits, Batch> {
  readonly #program: URL;
  readonly #threads: (ThreadClient<BatchOrder<Limits>, Batch> | undefined)[];
  #last = 0;

  /** `program` calls `serveBatches`. */
  constructor(program: URL, count: number) {
    this.#program = program;
    this.#threads = Array.from({ length: count }, () => undefined);
  }

  /** Reads files, at least one, into `to`, which stays where it is meanwhile. Rejects where the thread ends. */
  async read(files: readonly AskedFile[], to: Uint8Array, limits: Limits): Promise<Batch> {
    const order = { files: packFiles(files), limits, address: addressOf(to), length: to.length };
    const batch = await this.#next().order(order);
    // Until here it is in use, by no more than its address.
    void to.length;
    return batch;
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread?.end()));
  }

  /** One after another; a thread that has ended is replaced. */
  #next(): ThreadClient<BatchOrder<Limits>, Batch> {
    const i = this.#last++ % this.#threads.length;
    const present = this.#threads[i];
    if (present && !present.hasEnded) return present;
    const setup: BatchThreadSetup = { access: sourceAccess() };
    const started = new ThreadClient<BatchOrder<Limits>, Batch>(new Worker(this.#program, { workerData: setup }), {
      ended: (end) => new Error(`A thread that reads files for devices has ended: ${sayEnd(end)}`),
    });
    this.#threads[i] = started;
    return started;
  }
}
