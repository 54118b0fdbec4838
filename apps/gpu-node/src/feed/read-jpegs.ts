import type { JpegFrameReader } from '@halogrid/jpeg';
import { giveBackBytes, takeBytes } from '@halogrid/sources';
import type { AskedFile } from './asked-files.ts';
import { JpegBatch } from './jpeg-batch.ts';
import type { EncodedBatch, JpegLimits } from './jpeg-orders.ts';
import { closePlanned, openPlanned, readPlanned } from './planned-file.ts';

/** Files that are read side by side where the file system takes its time. */
const atOnce = 8;

/**
 * Reads JPEGs one after another into `to`, as many as there is room for, and what their headers say. What cannot be read, is not as it
 * was planned, or is not for devices, is left out: cores say what is wrong with it, or decode it. A file passes through memory of this
 * thread, because upload memory is slow to read.
 */
export async function readJpegs(
  files: readonly AskedFile[],
  to: Uint8Array,
  limits: JpegLimits,
  reader: JpegFrameReader,
): Promise<EncodedBatch> {
  const batch = new JpegBatch(to, limits, reader);
  for (let first = 0; first < files.length; first += atOnce) {
    const some = files.slice(first, first + atOnce);
    const read = await Promise.all(some.map((file) => readWhole(file, limits.bytes)));
    let done = first;
    for (const bytes of read) if (!batch.isFull && batch.take(done, bytes)) done++;
    for (const bytes of read) if (bytes) giveBackBytes(bytes);
    if (batch.isFull) return batch.end(done);
  }
  return batch.end(files.length);
}

/** The bytes of a file, for the caller to give back; undefined for one that is not there as it was planned, or becomes shorter. */
async function readWhole(file: AskedFile, most: number): Promise<Buffer<ArrayBuffer> | undefined> {
  const opened = await openPlanned(file, most);
  if (!opened) return undefined;
  const bytes = takeBytes(opened.sizeBytes);
  const isRead = await readPlanned(opened, bytes, 0);
  await closePlanned(opened);
  if (isRead) return bytes;
  giveBackBytes(bytes);
  return undefined;
}
