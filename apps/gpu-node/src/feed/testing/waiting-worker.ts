// Runs in a worker thread: answers a batch with the thread's id, once its limits, a shared word, are not 0.
import { threadId } from 'node:worker_threads';
import { serveBatchOrders } from '../serve-batch-orders.ts';

serveBatchOrders(
  async (_files, _to, until: Int32Array): Promise<number> => {
    await Atomics.waitAsync(until, 0, 0).value;
    return threadId;
  },
  () => [],
);
