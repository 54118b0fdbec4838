import { BatchThreads } from './batch-threads.ts';
import type { EncodedBatch, JpegLimits } from './jpeg-orders.ts';

/**
 * Decoders of cores per reading thread. On four cores a single thread slowed a GPU down; on 16 cores, more than four
 * threads bring nothing.
 */
const decodersAThread = 2;

/** The number of reading threads beside `decoders` decoding threads. */
export const jpegThreads = (decoders: number): number =>
  Math.min(4, Math.max(1, Math.floor(decoders / decodersAThread)));

/** Reads batches of JPEGs for devices on `count` threads. */
export class JpegThreads extends BatchThreads<JpegLimits, EncodedBatch> {
  constructor(count: number) {
    super(new URL('./jpeg-worker.ts', import.meta.url), count);
  }
}
