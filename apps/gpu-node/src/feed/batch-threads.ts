import { Worker } from 'node:worker_threads';
import { memoryAddress } from '@halogrid/imaging/native-memory';
import { sourceAccess } from '@halogrid/sources';
import { LateThread, sayEnd, ThreadClient } from '@halogrid/threads';
import { type AskedFile, packFiles } from './asked-files.ts';
import type { BatchOrder, BatchThreadSetup } from './batch-orders.ts';

/** A thread, and the number of batches that it has not finished. */
interface BatchThread<Limits, Batch> {
  thread: LateThread<BatchOrder<Limits>, Batch>;
  waiting: number;
}

/** Reads batches of files for devices on threads. A thread starts with its first batch. */
export class BatchThreads<Limits, Batch> {
  readonly #threads: BatchThread<Limits, Batch>[];

  /** `program` calls `serveBatches`. */
  constructor(program: URL, count: number) {
    const start = () => startThread<Limits, Batch>(program);
    this.#threads = Array.from({ length: count }, () => ({ thread: new LateThread(start), waiting: 0 }));
  }

  /** Reads files, at least one, into `to`, whose memory must not move meanwhile. Rejects if the thread ends. */
  async read(files: readonly AskedFile[], to: Uint8Array, limits: Limits): Promise<Batch> {
    const order = { files: packFiles(files), limits, address: memoryAddress(to), length: to.length };
    // Batches take different times, so taking turns would let batches queue behind a long one while other threads are
    // idle.
    const one = this.#threads.reduce((least, other) => (other.waiting < least.waiting ? other : least));
    one.waiting++;
    try {
      return await one.thread.client.order(order);
    } finally {
      one.waiting--;
      // The thread knows only the address of `to`; this use keeps the garbage collector from freeing it earlier.
      void to.length;
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map(({ thread }) => thread.end()));
  }
}

function startThread<Limits, Batch>(program: URL): ThreadClient<BatchOrder<Limits>, Batch> {
  const setup: BatchThreadSetup = { access: sourceAccess() };
  return new ThreadClient(new Worker(program, { workerData: setup }), {
    ended: (end) => new Error(`A thread that reads files for devices has ended: ${sayEnd(end)}`),
  });
}
