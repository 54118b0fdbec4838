import { type Transferable, workerData } from 'node:worker_threads';
import { memoryAt } from '@halogrid/imaging/native-memory';
import { restrictSources } from '@halogrid/sources';
import { serveOrders } from '@halogrid/threads';
import { type AskedFile, unpackFiles } from './asked-files.ts';
import type { BatchOrder, BatchThreadSetup } from './batch-orders.ts';

/**
 * For the program of a thread: reads the batches that BatchThreads orders. `moved`: memory of a batch that is moved to
 * the other thread.
 */
export function serveBatchOrders<Limits, Batch>(
  read: (files: readonly AskedFile[], to: Uint8Array, limits: Limits) => Promise<Batch>,
  moved: (batch: Batch) => Transferable[],
): void {
  const { access } = workerData as BatchThreadSetup;
  restrictSources(access);
  serveOrders(
    ({ files, limits, address, length }: BatchOrder<Limits>) =>
      read(unpackFiles(files), memoryAt(address, length), limits),
    { moved },
  );
}
