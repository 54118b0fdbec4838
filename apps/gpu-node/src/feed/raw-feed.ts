import { BatchThreads } from './batch-threads.ts';
import type { RawBatch, RawLimits } from './raw-orders.ts';

/**
 * The most reading threads. Half as many as cores read as fast as upload memory can be written; more would only take
 * cores from other work.
 */
const mostThreads = 8;

/** The number of reading threads beside `decoders` decoding threads. */
export const rawThreads = (decoders: number): number => Math.min(mostThreads, Math.max(1, Math.ceil(decoders / 2)));

/** Reads batches of raw frames for devices. */
export class RawThreads extends BatchThreads<RawLimits, RawBatch> {
  constructor(count: number) {
    super(new URL('./raw-worker.ts', import.meta.url), count);
  }
}

/**
 * Frames that are opened one by one before the threads for batches start, which takes a tenth of a second of processor
 * time.
 */
const framesBefore = 256;

/** Reads the raw frames of a node in batches, once there have been enough frames to be worth the threads. */
export class RawFeed {
  readonly #threads: Pick<RawThreads, 'read' | 'close'>;
  readonly #framesBefore: number;
  #frames = 0;

  constructor(threads: Pick<RawThreads, 'read' | 'close'>, before = framesBefore) {
    this.#threads = threads;
    this.#framesBefore = before;
  }

  /** Counts `frames` further frames; returns whether the feed is to read them. */
  takes(frames: number): boolean {
    this.#frames += frames;
    return this.#frames > this.#framesBefore;
  }

  /** Reads frames into `to` as planes of bytes, as many as fit; leaves out frames that cores must open. */
  read: RawThreads['read'] = (files, to, limits) => this.#threads.read(files, to, limits);

  close(): Promise<void> {
    return this.#threads.close();
  }
}
