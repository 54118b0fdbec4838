import { endOfHeader, type JpegFrameReader } from '@halogrid/jpeg';
import { giveBackBytes, isRowUri, openInputFile, takeBytes } from '@halogrid/sources';
import type { AskedFile } from './asked-files.ts';
import { type BegunFile, beginWhole } from './begun-file.ts';
import { JpegBatch } from './jpeg-batch.ts';
import type { EncodedBatch, JpegLimits } from './jpeg-orders.ts';
import { closePlanned, openPlanned, type PlannedFile, readPlanned } from './planned-file.ts';

/** How files are read. */
export interface FileReading {
  /** Files that are read in parallel, to hide latency. */
  atOnce: number;
  /**
   * Reads the first bytes. Never rejects; undefined for a file longer than `most`, of another version, or that cannot
   * be read.
   */
  begin(file: AskedFile, most: number): Promise<BegunFile | undefined>;
}

const fromDisk: FileReading = { atOnce: 8, begin };

/** Bytes of a file that are read at first: more than most headers have. */
const headBytes = 2 ** 13;

/**
 * Reads JPEGs one after another into `to`, as many as fit, and the facts in their headers. Files that cannot be read,
 * are not the planned version or are not for devices are left out: cores decode them, or report what is wrong. Only the
 * beginning of a file passes through memory of this thread, because upload memory is slow to read.
 */
export async function readJpegs(
  files: readonly AskedFile[],
  to: Uint8Array,
  limits: JpegLimits,
  reader: JpegFrameReader,
  { atOnce, begin }: FileReading = fromDisk,
): Promise<EncodedBatch> {
  const batch = new JpegBatch(to, limits, reader);
  let done = 0;
  while (done < files.length && !batch.isFull) {
    const begun = await Promise.all(files.slice(done, done + atOnce).map((file) => begin(file, limits.bytes)));
    const filling: Promise<void>[] = [];
    for (const file of begun) {
      const place = file && batch.place(done, file.head, file.sizeBytes);
      if (batch.isFull) break;
      if (place) filling.push(fill(batch, done, file, place));
      done++;
    }
    await Promise.all(filling);
    await Promise.all(begun.map((file) => file?.close()));
  }
  return batch.end(done);
}

/** Reads a file into its place. */
async function fill(batch: JpegBatch, position: number, file: BegunFile, place: Uint8Array): Promise<void> {
  const { head, readRest } = file;
  place.set(head);
  const isRead = head.length === place.length || (await readRest(place.subarray(head.length)));
  if (!isRead) batch.leaveOut(position);
}

/** Opens a file of this machine and reads its first bytes, or of a row of a Parquet file all. */
async function begin(asked: AskedFile, most: number): Promise<BegunFile | undefined> {
  if (isRowUri(asked.uri)) return await beginWhole(openInputFile, asked, most);
  const file = await openPlanned(asked, most);
  if (!file) return undefined;
  const { sizeBytes } = file;
  let head = takeBytes(Math.min(headBytes, sizeBytes));
  let isRead = await readPlanned(file, head, 0);
  if (isRead && head.length < sizeBytes && endOfHeader(head) === undefined) {
    giveBackBytes(head);
    head = takeBytes(sizeBytes);
    isRead = await readPlanned(file, head, 0);
  }
  if (isRead) return opened(file, head);
  giveBackBytes(head);
  await closePlanned(file);
  return undefined;
}

const opened = (file: PlannedFile, head: Buffer<ArrayBuffer>): BegunFile => ({
  sizeBytes: file.sizeBytes,
  head,
  readRest: (into) => readPlanned(file, into, head.length),
  close: () => {
    giveBackBytes(head);
    return closePlanned(file);
  },
});
