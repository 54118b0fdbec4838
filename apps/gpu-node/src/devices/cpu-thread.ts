import { Worker } from 'node:worker_threads';
import type { ItemResult, Pipeline, PipelineItem } from '@halogrid/kernels';
import { ThreadClient } from '@halogrid/threads';

/** What a thread computes. The buffer is moved to the thread and moved back with the answer. */
export interface CpuBatch {
  buffer: ArrayBuffer;
  items: readonly PipelineItem[];
  pipeline: Pipeline;
  withMap: boolean;
}

export type CpuAnswer =
  | { kind: 'done'; buffer: ArrayBuffer; items: ItemResult[]; seconds: number; busySeconds: number }
  /** It cannot be computed; the thread goes on. */
  | { kind: 'refused'; buffer: ArrayBuffer; reason: string };

/** The thread is gone, and the buffer with it. */
export type CpuStopped = { kind: 'stopped'; reason: string };

/** One worker thread; it computes one batch at a time. */
export class CpuThread {
  readonly #thread: ThreadClient<CpuBatch, CpuAnswer>;

  /** `program` is the file that the thread runs. */
  constructor(program: URL) {
    this.#thread = new ThreadClient(new Worker(program), {
      ended: (end) => ('error' in end ? end.error : new Error(`its thread exited with ${end.code}`)),
    });
  }

  /** Never rejects. */
  compute(batch: CpuBatch): Promise<CpuAnswer | CpuStopped> {
    return this.#thread
      .order(batch, [batch.buffer])
      .catch((error: Error) => ({ kind: 'stopped', reason: error.message }));
  }

  /** At once: a batch may take seconds, and its program loads no native module. */
  async stop(): Promise<void> {
    await this.#thread.terminate();
  }
}
