import { cpus } from 'node:os';
import type { Pipeline, PipelineItem } from '@halogrid/kernels';
import { coresHere, memoryHere } from '@halogrid/threads/limits';
import { BufferPool } from './buffer-pool.ts';
import { type CpuAnswer, type CpuBatch, CpuThread } from './cpu-thread.ts';
import { type BatchResult, type DeviceInfo, DeviceLostError, type NodeDevice, type Staging } from './device.ts';
import { spareCollector } from './runtime.ts';

/** Staging memory per thread: for the tile that it computes, the one being decoded, and the batches behind them. */
const stagingBytesAThread = 2 ** 26;

export interface CpuDeviceOptions {
  /** Worker threads. Default: as many as this process has cores. */
  threads?: number;
  /** The most bytes of staging memory out at once; further callers wait. */
  stagingBytes?: number;
  /** The file that the threads run. */
  program?: URL;
  /** Whether the first thread, too, is started only by the batch that needs it. */
  startsLate?: boolean;
}

interface Job {
  batch: CpuBatch;
  /** Takes the batch's memory back. */
  giveBack: (buffer: ArrayBuffer) => void;
  resolve: (result: BatchResult) => void;
  reject: (error: Error) => void;
}

/** The `cpu` device: WebAssembly in worker threads, one batch a thread. */
export class CpuDevice implements NodeDevice {
  readonly info: DeviceInfo;
  /** As large as the largest binding of a GPU. */
  readonly maxStagingBytes = 2 ** 31 - 256;
  /**
   * Four frames of 1080p. Larger batches gain nothing, and with these the cores have work earlier and until later. A
   * job of 1,000 JPEGs ran at 355 to 365 frames a second on two cores, and at 340 with 64 MiB (measured).
   */
  readonly batchBytes = 2 ** 23;
  readonly batchesInFlight: number;
  /** Threads that stop are replaced, so the device as a whole is never lost. */
  readonly lost = new Promise<string>(() => {});

  readonly #program: URL;
  readonly #threadLimit: number;
  readonly #pool: BufferPool;
  readonly #threads = new Set<CpuThread>();
  #idle: CpuThread[] = [];
  #queue: Job[] = [];
  #isClosed = false;

  constructor(options: CpuDeviceOptions = {}) {
    this.#program = options.program ?? new URL('./cpu-worker.ts', import.meta.url);
    this.#threadLimit = Math.max(1, options.threads ?? coresHere());
    const affordable = Math.min(this.#threadLimit * stagingBytesAThread, Math.floor(memoryHere() / 4));
    this.#pool = new BufferPool(options.stagingBytes ?? affordable);
    this.batchesInFlight = Math.max(4, this.#threadLimit + 2);
    const model = cpus()[0]?.model.trim() || process.arch;
    const threads = this.#threadLimit === 1 ? '1 thread' : `${this.#threadLimit} threads`;
    this.info = { kind: 'cpu', name: `${model}, ${threads}`, driver: `Node.js ${process.version}` };
    if (options.startsLate) return;
    // One thread starts while the node attaches: the first batch would wait 150 ms for it (measured). The others start
    // when as many batches run at once: each takes 60 to 100 ms of processor time (measured), and many jobs are one
    // batch.
    this.#idle = [this.#start()];
  }

  get heldBytes(): number {
    return this.#pool.heldBytes;
  }

  async acquire(bytes: number): Promise<Staging> {
    spareCollector(bytes);
    return new CpuStaging(this.#pool, await this.#pool.take(bytes));
  }

  run(
    staging: Staging,
    items: readonly PipelineItem[],
    pipeline: Pipeline,
    withMap: boolean,
    keep = false,
  ): Promise<BatchResult> {
    const buffer = (staging as CpuStaging).take();
    const giveBack = (back: ArrayBuffer): void => (keep ? (staging as CpuStaging).put(back) : this.#pool.give(back));
    return new Promise((resolve, reject) => {
      this.#queue.push({ batch: { buffer, items, pipeline, withMap }, giveBack, resolve, reject });
      this.#dispatch();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const job of this.#queue.splice(0)) job.reject(closed());
    await Promise.all([...this.#threads].map((thread) => thread.stop()));
  }

  #dispatch(): void {
    while (this.#queue.length > 0) {
      const thread = this.#idle.pop() ?? this.#another();
      if (!thread) return;
      void this.#compute(thread, this.#queue.shift()!);
    }
  }

  /**
   * Starts a thread, or replaces one that stopped, only when there is work for it. So a thread that cannot start fails
   * batches, and is not started again and again.
   */
  #another(): CpuThread | undefined {
    return this.#isClosed || this.#threads.size >= this.#threadLimit ? undefined : this.#start();
  }

  #start(): CpuThread {
    const thread = new CpuThread(this.#program);
    this.#threads.add(thread);
    return thread;
  }

  async #compute(thread: CpuThread, { batch, giveBack, resolve, reject }: Job): Promise<void> {
    const bytes = batch.buffer.byteLength;
    const answer = await thread.compute(batch);
    if (answer.kind === 'stopped') {
      this.#threads.delete(thread);
      this.#pool.forget(bytes);
      reject(this.#isClosed ? closed() : new DeviceLostError(answer.reason));
    } else {
      this.#idle.push(thread);
      if (answer.kind === 'refused') {
        this.#pool.give(answer.buffer);
        reject(new Error(answer.reason));
      } else {
        giveBack(answer.buffer);
        resolve(batchResult(answer));
      }
    }
    this.#dispatch();
  }
}

const closed = (): Error => new Error('The cpu device is closed');

function batchResult({ items, seconds, busySeconds }: Extract<CpuAnswer, { kind: 'done' }>): BatchResult {
  return { items, seconds: { upload: 0, compute: seconds, readback: 0 }, busySeconds };
}

class CpuStaging implements Staging {
  readonly bytes: Uint8Array;
  readonly #pool: BufferPool;
  #buffer: ArrayBuffer | undefined;

  constructor(pool: BufferPool, buffer: ArrayBuffer) {
    this.bytes = new Uint8Array(buffer);
    this.#pool = pool;
    this.#buffer = buffer;
  }

  take(): ArrayBuffer {
    const buffer = this.#buffer;
    if (!buffer) throw new Error('This staging memory was given back already');
    this.#buffer = undefined;
    return buffer;
  }

  /** Puts the buffer back after a run that leaves it to the caller. */
  put(buffer: ArrayBuffer): void {
    this.#buffer = buffer;
  }

  release(): void {
    if (this.#buffer) this.#pool.give(this.take());
  }
}

/**
 * The reference as a device, to check the results of other devices: slow, and without any code in common with them. Its
 * threads start with the first check, and leave half of the cores to decoding.
 */
export function openTwinDevice(): NodeDevice {
  const threads = Math.ceil(coresHere() / 2);
  // Few jobs check anything, and starting a thread takes a tenth of a second of processor time (measured).
  return new CpuDevice({ threads, program: new URL('./twin-worker.ts', import.meta.url), startsLate: true });
}
