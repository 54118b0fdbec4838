import { Worker } from 'node:worker_threads';
import type { ItemResult, Pipeline, PipelineItem } from '@halogrid/kernels';

/** What a thread computes. The buffer is moved to the thread and moved back with the answer. */
export interface CpuBatch {
  buffer: ArrayBuffer;
  items: readonly PipelineItem[];
  pipeline: Pipeline;
  withMap: boolean;
}

export type CpuAnswer =
  | { kind: 'done'; buffer: ArrayBuffer; items: ItemResult[]; seconds: number }
  /** It cannot be computed; the thread goes on. */
  | { kind: 'refused'; buffer: ArrayBuffer; reason: string };

/** The thread is gone, and the buffer with it. */
export type CpuStopped = { kind: 'stopped'; reason: string };

/** One worker thread; it computes one batch at a time. */
export class CpuThread {
  readonly #worker: Worker;
  #answer: ((answer: CpuAnswer | CpuStopped) => void) | undefined;
  #stopped: CpuStopped | undefined;

  /** `program` is the file that the thread runs. */
  constructor(program: URL) {
    this.#worker = new Worker(program);
    this.#worker.on('message', (answer: CpuAnswer) => this.#settle(answer));
    this.#worker.on('error', (error: Error) => this.#end(error.message));
    this.#worker.on('exit', (code) => this.#end(`its thread exited with ${code}`));
  }

  /** Never rejects. */
  compute(batch: CpuBatch): Promise<CpuAnswer | CpuStopped> {
    if (this.#stopped) return Promise.resolve(this.#stopped);
    return new Promise((answer) => {
      this.#answer = answer;
      this.#worker.postMessage(batch, [batch.buffer]);
    });
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }

  #end(reason: string): void {
    this.#stopped ??= { kind: 'stopped', reason };
    this.#settle(this.#stopped);
  }

  #settle(answer: CpuAnswer | CpuStopped): void {
    this.#answer?.(answer);
    this.#answer = undefined;
  }
}
