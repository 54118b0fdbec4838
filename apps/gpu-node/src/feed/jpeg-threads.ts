import { BatchThreads } from './batch-threads.ts';
import type { EncodedBatch, JpegLimits } from './jpeg-orders.ts';

/**
 * Decoders of cores for which one thread reads. On four cores one alone held a GPU up; on 16, more than four only take
 * turns.
 */
const decodersAThread = 2;

/** How many threads read where that many decode. */
export const jpegThreads = (decoders: number): number =>
  Math.min(4, Math.max(1, Math.floor(decoders / decodersAThread)));

/** Reads batches of JPEGs for devices on that many threads. */
export class JpegThreads extends BatchThreads<JpegLimits, EncodedBatch> {
  constructor(count: number) {
    super(new URL('./jpeg-worker.ts', import.meta.url), count);
  }
}
