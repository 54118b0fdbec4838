import type { JpegFrameReader } from '@halogrid/jpeg';
import { giveBackBytes, takeBytes } from '@halogrid/sources';
import type { AskedFile } from './asked-files.ts';
import { JpegBatch } from './jpeg-batch.ts';
import type { EncodedBatch, JpegLimits } from './jpeg-orders.ts';
import { closePlanned, openPlanned, readPlanned } from './planned-file.ts';

/** The bytes of a file, in memory that is used again. */
export interface ReadFile {
  bytes: Uint8Array;
  /** Called once, when nobody reads them any more. */
  giveBack(): void;
}

/** Where files come from. */
export interface FileReading {
  /** Files that are read side by side where that takes its time. */
  atOnce: number;
  /** Never rejects; undefined for a file that is longer than `most`, not as it was planned, or that cannot be read. */
  readWhole(file: AskedFile, most: number): Promise<ReadFile | undefined>;
}

const fromDisk: FileReading = { atOnce: 8, readWhole };

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
  { atOnce, readWhole }: FileReading = fromDisk,
): Promise<EncodedBatch> {
  const batch = new JpegBatch(to, limits, reader);
  for (let first = 0; first < files.length; first += atOnce) {
    const some = files.slice(first, first + atOnce);
    const read = await Promise.all(some.map((file) => readWhole(file, limits.bytes)));
    let done = first;
    for (const file of read) if (!batch.isFull && batch.take(done, file?.bytes)) done++;
    for (const file of read) file?.giveBack();
    if (batch.isFull) return batch.end(done);
  }
  return batch.end(files.length);
}

/** A file of this machine; undefined as well for one that becomes shorter meanwhile. */
async function readWhole(file: AskedFile, most: number): Promise<ReadFile | undefined> {
  const opened = await openPlanned(file, most);
  if (!opened) return undefined;
  const bytes = takeBytes(opened.sizeBytes);
  const giveBack = (): void => giveBackBytes(bytes);
  const isRead = await readPlanned(opened, bytes, 0);
  await closePlanned(opened);
  if (isRead) return { bytes, giveBack };
  giveBack();
  return undefined;
}
