import { Worker } from 'node:worker_threads';
import { sourceAccess } from '@halogrid/sources';
import { LateThread, sayEnd, ThreadClient } from '@halogrid/threads';
import type { AskedFile } from './asked-files.ts';
import type { BatchThreadSetup } from './batch-orders.ts';
import type { indexJpeg, JpegIndex } from './index-jpeg.ts';

export interface IndexOrder {
  file: AskedFile;
  leastPixels: number;
}

/**
 * Finds restart markers of JPEGs on a thread, because that looks at every byte of a file. The thread starts with the
 * first file.
 */
export class IndexThread {
  readonly #thread = new LateThread(startThread);

  /** As indexJpeg, but rejects if the thread ends. */
  index: typeof indexJpeg = (file, leastPixels) => this.#thread.client.order({ file, leastPixels });

  close(): Promise<void> {
    return this.#thread.end();
  }
}

function startThread(): ThreadClient<IndexOrder, JpegIndex | undefined> {
  const setup: BatchThreadSetup = { access: sourceAccess() };
  const worker = new Worker(new URL('./index-worker.ts', import.meta.url), { workerData: setup });
  return new ThreadClient(worker, {
    ended: (end) => new Error(`The thread that looks for restart markers has ended: ${sayEnd(end)}`),
  });
}
