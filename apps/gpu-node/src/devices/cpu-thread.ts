import { Worker } from 'node:worker_threads';
import type { ItemResult, Pipeline, PipelineItem } from '@halogrid/kernels';
import { ThreadClient } from '@halogrid/threads';

/** A batch for a thread. The buffer is moved to the thread and comes back with the answer. */
export interface CpuBatch {
  buffer: ArrayBuffer;
  items: readonly PipelineItem[];
  pipeline: Pipeline;
  withMap: boolean;
}

export type CpuAnswer =
  | { kind: 'done'; buffer: ArrayBuffer; items: ItemResult[]; seconds: number; busySeconds: number }
  /** The batch cannot be computed; the thread goes on. */
  | { kind: 'refused'; buffer: ArrayBuffer; reason: string };

/** The thread has ended; the buffer is lost. */
export type CpuStopped = { kind: 'stopped'; reason: string };

/** One worker thread, which computes one batch at a time. */
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

  /** Stops the thread at once, because a batch may take seconds; its program loads no native module. */
  async stop(): Promise<void> {
    await this.#thread.terminate();
  }
}
