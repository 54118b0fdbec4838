import type { ItemResult, Pipeline, PipelineItem } from '@halogrid/kernels';
import { serveOrders } from '@halogrid/threads';
import type { CpuAnswer, CpuBatch } from './cpu-thread.ts';

type Run = (pipeline: Pipeline, bytes: Uint8Array, item: PipelineItem, withMap: boolean) => ItemResult;

/** Computes, in a worker thread, the batches that a CpuThread sends, one at a time. */
export function serveBatches(run: Run): void {
  serveOrders((batch: CpuBatch) => compute(run, batch), {
    // Memory changes hands instead of being copied.
    moved: (answer) => [answer.buffer, ...(answer.kind === 'done' ? resultBuffers(answer.items) : [])],
  });
}

function compute(run: Run, { buffer, items, pipeline, withMap }: CpuBatch): CpuAnswer {
  const before = process.threadCpuUsage();
  const bytes = new Uint8Array(buffer);
  try {
    const results = items.map((item) => run(pipeline, bytes, item, withMap));
    return { kind: 'done', buffer, items: results, seconds: cpuSeconds(before) };
  } catch (error) {
    return { kind: 'refused', buffer, reason: (error as Error).message };
  }
}

/** Time that a core has worked for this thread: one that waits for a core is not at work. */
function cpuSeconds(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1e6;
}

/** The memory that results lie in, each buffer once: one may hold several arrays, and is moved as a whole. */
export function resultBuffers(items: readonly ItemResult[]): Set<ArrayBuffer> {
  const arrays = items.flatMap(({ bins, map }) => (map ? [bins, map.bytes] : [bins]));
  return new Set(arrays.map(({ buffer }) => buffer as ArrayBuffer));
}
