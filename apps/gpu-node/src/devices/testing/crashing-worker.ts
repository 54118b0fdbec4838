// What a worker thread runs in a test: it crashes when told to and otherwise computes nothing.
import { parentPort } from 'node:worker_threads';
import type { CpuBatch } from '../cpu-thread.ts';

parentPort!.on('message', ({ buffer, pipeline }: CpuBatch) => {
  if (pipeline.convention === 'crash') throw new Error('out of luck');
  parentPort!.postMessage({ kind: 'done', buffer, items: [], seconds: 0 }, [buffer]);
});
