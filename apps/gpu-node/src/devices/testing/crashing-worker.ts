// Runs in a worker thread of a test: crashes when told to, and otherwise computes nothing.
import { serveOrders } from '@halogrid/threads';
import type { CpuAnswer, CpuBatch } from '../cpu-thread.ts';

const crash = (): never => {
  throw new Error('out of luck');
};

serveOrders(
  ({ buffer, pipeline }: CpuBatch): CpuAnswer | Promise<CpuAnswer> =>
    pipeline.convention === 'crash'
      ? new Promise(() => setImmediate(crash))
      : { kind: 'done', buffer, items: [], seconds: 0, busySeconds: 0 },
  { moved: ({ buffer }) => [buffer] },
);
