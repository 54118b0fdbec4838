// Runs in a worker thread: computes the batches that a CpuThread sends, one at a time, with WebAssembly.
import { parentPort } from 'node:worker_threads';
import { runCpu } from '@halogrid/kernels/cpu';
import type { CpuAnswer, CpuBatch } from './cpu-thread.ts';
import { resultBuffers } from './result-buffers.ts';

const port = parentPort!;

port.on('message', (batch: CpuBatch) => {
  const answer = compute(batch);
  // Memory changes hands instead of being copied.
  const results = answer.kind === 'done' ? resultBuffers(answer.items) : [];
  port.postMessage(answer, [batch.buffer, ...results]);
});

function compute({ buffer, items, pipeline, withMap }: CpuBatch): CpuAnswer {
  const startedMs = performance.now();
  const bytes = new Uint8Array(buffer);
  try {
    const results = items.map((item) => runCpu(pipeline, bytes, item, withMap));
    return { kind: 'done', buffer, items: results, seconds: (performance.now() - startedMs) / 1000 };
  } catch (error) {
    return { kind: 'refused', buffer, reason: (error as Error).message };
  }
}
