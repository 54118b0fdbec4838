import { BatchThreads } from './batch-threads.ts';
import type { RawBatch, RawLimits } from './raw-orders.ts';

/**
 * Threads read as many bytes as upload memory takes where they are half as many as cores; more only take turns with
 * what computes.
 */
const mostThreads = 8;

/** How many threads read where that many decode. */
export const rawThreads = (decoders: number): number => Math.min(mostThreads, Math.max(1, Math.ceil(decoders / 2)));

/** Reads batches of raw frames for devices. */
export class RawThreads extends BatchThreads<RawLimits, RawBatch> {
  constructor(count: number) {
    super(new URL('./raw-worker.ts', import.meta.url), count);
  }
}

/**
 * Frames that are opened one by one before threads for batches of them start: they take a tenth of a second of
 * processor time.
 */
const framesBefore = 256;

/** Reads the raw frames of a node, once there are so many that it is worth its threads. */
export class RawFeed {
  readonly #threads: Pick<RawThreads, 'read' | 'close'>;
  readonly #framesBefore: number;
  #frames = 0;

  constructor(threads: Pick<RawThreads, 'read' | 'close'>, before = framesBefore) {
    this.#threads = threads;
    this.#framesBefore = before;
  }

  /** Whether it is to read so many more. */
  takes(frames: number): boolean {
    this.#frames += frames;
    return this.#frames > this.#framesBefore;
  }

  /**
   * Reads frames into `to` as planes of bytes, as many as there is room for; those that are for cores it leaves out.
   */
  read: RawThreads['read'] = (files, to, limits) => this.#threads.read(files, to, limits);

  close(): Promise<void> {
    return this.#threads.close();
  }
}
