import { Worker } from 'node:worker_threads';
import { sourceAccess } from '@halogrid/sources';
import { sayEnd, ThreadClient } from '@halogrid/threads';
import type { AskedFile } from './asked-files.ts';
import type { BatchThreadSetup } from './batch-orders.ts';
import type { indexJpeg, JpegIndex } from './index-jpeg.ts';

export interface IndexOrder {
  file: AskedFile;
  leastPixels: number;
}

/** Finds restart markers of JPEGs on a thread, which starts with the first that it is given: it looks at every byte of a file. */
export class IndexThread {
  #thread: ThreadClient<IndexOrder, JpegIndex | undefined> | undefined;

  /** As indexJpeg, but rejects where the thread ends. */
  index: typeof indexJpeg = (file, leastPixels) => this.#started().order({ file, leastPixels });

  async close(): Promise<void> {
    await this.#thread?.end();
  }

  #started(): ThreadClient<IndexOrder, JpegIndex | undefined> {
    if (this.#thread && !this.#thread.hasEnded) return this.#thread;
    const setup: BatchThreadSetup = { access: sourceAccess() };
    const worker = new Worker(new URL('./index-worker.ts', import.meta.url), { workerData: setup });
    this.#thread = new ThreadClient<IndexOrder, JpegIndex | undefined>(worker, {
      ended: (end) => new Error(`The thread that looks for restart markers has ended: ${sayEnd(end)}`),
    });
    return this.#thread;
  }
}
