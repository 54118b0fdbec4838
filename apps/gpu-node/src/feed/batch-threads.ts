import { Worker } from 'node:worker_threads';
import { addressOf } from '@halogrid/imaging/native-memory';
import { sourceAccess } from '@halogrid/sources';
import { sayEnd, ThreadClient } from '@halogrid/threads';
import { type AskedFile, packFiles } from './asked-files.ts';
import type { BatchOrder, BatchThreadSetup } from './batch-orders.ts';

/** A thread, once it has started, and the batches that it has not read yet. */
interface BatchThread<Limits, Batch> {
  client: ThreadClient<BatchOrder<Limits>, Batch> | undefined;
  waiting: number;
}

/** Reads batches of files for devices on threads, each of which starts with the first batch that it is given. */
export class BatchThreads<Limits, Batch> {
  readonly #program: URL;
  readonly #threads: BatchThread<Limits, Batch>[];

  /** `program` calls `serveBatches`. */
  constructor(program: URL, count: number) {
    this.#program = program;
    this.#threads = Array.from({ length: count }, () => ({ client: undefined, waiting: 0 }));
  }

  /** Reads files, at least one, into `to`, which stays where it is meanwhile. Rejects where the thread ends. */
  async read(files: readonly AskedFile[], to: Uint8Array, limits: Limits): Promise<Batch> {
    const order = { files: packFiles(files), limits, address: addressOf(to), length: to.length };
    // Batches take times that differ, and the next one in turn may be behind while others have none.
    const thread = this.#threads.reduce((least, other) => (other.waiting < least.waiting ? other : least));
    thread.waiting++;
    try {
      return await this.#started(thread).order(order);
    } finally {
      thread.waiting--;
      // Until here it is in use, by no more than its address.
      void to.length;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map(({ client }) => client?.end()));
  }

  /** A thread that has ended is replaced. */
  #started(thread: BatchThread<Limits, Batch>): ThreadClient<BatchOrder<Limits>, Batch> {
    if (thread.client && !thread.client.hasEnded) return thread.client;
    const setup: BatchThreadSetup = { access: sourceAccess() };
    thread.client = new ThreadClient<BatchOrder<Limits>, Batch>(new Worker(this.#program, { workerData: setup }), {
      ended: (end) => new Error(`A thread that reads files for devices has ended: ${sayEnd(end)}`),
    });
    return thread.client;
  }
}
