import { Worker } from 'node:worker_threads';
import { addressOf } from '@halogrid/imaging/native-memory';
import { sourceAccess } from '@halogrid/sources';
import { sayEnd, ThreadClient } from '@halogrid/threads';
import type { AskedFile, EncodedBatch, JpegLimits, JpegOrder, JpegThreadSetup } from './jpeg-orders.ts';

type JpegThread = ThreadClient<JpegOrder, EncodedBatch>;

/** Decoders of cores for which one thread reads; one reads 10,000 frames a second, and more only take turns with what computes. */
const decodersAThread = 4;

/** How many threads read where that many decode. */
export const jpegThreads = (decoders: number): number =>
  Math.min(4, Math.max(1, Math.floor(decoders / decodersAThread)));

/** Reads batches of JPEGs for devices on threads, each of which starts with the first batch that it is given. */
export class JpegThreads {
  readonly #threads: (JpegThread | undefined)[];
  #last = 0;

  constructor(count: number) {
    this.#threads = Array.from({ length: count }, () => undefined);
  }

  /** Reads files into `to`, which stays where it is meanwhile. Rejects where the thread ends. */
  async read(files: readonly AskedFile[], to: Uint8Array, limits: JpegLimits): Promise<EncodedBatch> {
    const batch = await this.#next().order({ files, limits, address: addressOf(to), length: to.length });
    // Until here it is in use, by no more than its address.
    void to.length;
    return batch;
  }

  async close(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread?.end()));
  }

  /** One after another; a thread that has ended is replaced. */
  #next(): JpegThread {
    const i = this.#last++ % this.#threads.length;
    const present = this.#threads[i];
    if (present && !present.hasEnded) return present;
    const started = startThread();
    this.#threads[i] = started;
    return started;
  }
}

function startThread(): JpegThread {
  const setup: JpegThreadSetup = { access: sourceAccess() };
  const worker = new Worker(new URL('./jpeg-worker.ts', import.meta.url), { workerData: setup });
  return new ThreadClient(worker, {
    ended: (end) => new Error(`A thread that reads JPEGs has ended: ${sayEnd(end)}`),
  });
}
