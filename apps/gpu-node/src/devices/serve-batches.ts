import type { ItemResult, Pipeline, PipelineItem } from '@halogrid/kernels';
import { serveOrders } from '@halogrid/threads';
import type { CpuAnswer, CpuBatch } from './cpu-thread.ts';

type Run = (pipeline: Pipeline, bytes: Uint8Array, item: PipelineItem, withMap: boolean) => ItemResult;

/** Computes, in a worker thread, the batches that a CpuThread sends, one at a time. */
export function serveBatches(run: Run): void {
  serveOrders((batch: CpuBatch) => compute(run, batch), {
    // Buffers are moved, not copied.
    moved: (answer) => [answer.buffer, ...(answer.kind === 'done' ? resultBuffers(answer.items) : [])],
  });
}

function compute(run: Run, { buffer, items, pipeline, withMap }: CpuBatch): CpuAnswer {
  const startedMs = performance.now();
  const bytes = new Uint8Array(buffer);
  try {
    const results = items.map((item) => run(pipeline, bytes, item, withMap));
    const seconds = (performance.now() - startedMs) / 1000;
    return { kind: 'done', buffer, items: results, seconds, busySeconds: takeBusySeconds() };
  } catch (error) {
    return { kind: 'refused', buffer, reason: (error as Error).message };
  }
}

let told = process.threadCpuUsage();

/**
 * The processor time of this thread since the last call; a thread that waits for a core is not busy. The system counts
 * it when the thread stops, or at the next tick, so the time of a short batch may be counted with the next batch.
 */
function takeBusySeconds(): number {
  const { user, system } = process.threadCpuUsage(told);
  told = { user: told.user + user, system: told.system + system };
  return (user + system) / 1e6;
}

/** The buffers that results lie in, each once: one buffer may hold several arrays, and is moved as a whole. */
export function resultBuffers(items: readonly ItemResult[]): Set<ArrayBuffer> {
  const arrays = items.flatMap(({ bins, map }) => (map ? [bins, map.bytes] : [bins]));
  return new Set(arrays.map(({ buffer }) => buffer as ArrayBuffer));
}
