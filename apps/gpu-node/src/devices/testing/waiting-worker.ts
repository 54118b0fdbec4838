// Runs in a worker thread of the cpu device. It sleeps longer than it computes.
import { runCpu } from '@halogrid/kernels/cpu';
import { serveBatches } from '../serve-batches.ts';
import { waitedMs } from './waited-ms.ts';

serveBatches((...batch) => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, waitedMs);
  return runCpu(...batch);
});
