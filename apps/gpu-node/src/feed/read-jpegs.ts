import { fstatSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { jpegTime } from '@halogrid/imaging/jpeg-time';
import { type JpegFile, type JpegFrame, type JpegFrameReader, layOutJpegs } from '@halogrid/jpeg';
import { allowedPath, giveBackBytes, isOfVersion, localVersion, quickFiles, takeBytes } from '@halogrid/sources';
import type { CaptureTime } from '@halogrid/sources/capture-time';
import { type AskedFile, type EncodedBatch, type JpegLimits, takenWords } from './jpeg-orders.ts';

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
  const batch = new BatchOfFiles(to, limits, reader);
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

/** What was taken so far. */
class BatchOfFiles {
  isFull = false;
  readonly #to: Uint8Array;
  readonly #limits: JpegLimits;
  readonly #reader: JpegFrameReader;
  readonly #files: JpegFile[] = [];
  readonly #positions: number[] = [];
  readonly #captured = new Map<number, CaptureTime>();
  #bytes = 0;
  #planesBytes = 0;

  constructor(to: Uint8Array, limits: JpegLimits, reader: JpegFrameReader) {
    this.#to = to;
    this.#limits = limits;
    this.#reader = reader;
  }

  /** Whether the file is done with: taken, or not for devices. If not, the batch is full. */
  take(position: number, bytes: Uint8Array | undefined): boolean {
    const frame = bytes && this.#reader.read(bytes);
    if (!frame || typeof frame === 'string') return true;
    if (Math.min(frame.width, frame.height) < this.#limits.minSide) return true;
    const planeBytes = spaceOf(frame);
    const fits =
      this.#bytes + bytes.length <= this.#limits.bytes && this.#planesBytes + planeBytes <= this.#limits.planesBytes;
    if (!fits) {
      // Alone it never will.
      if (this.#bytes === 0) return true;
      this.isFull = true;
      return false;
    }
    this.#to.set(bytes, this.#bytes);
    this.#files.push({ frame, offset: this.#bytes, bytes: bytes.length });
    this.#positions.push(position);
    const captured = jpegTime(bytes);
    if (captured) this.#captured.set(position, captured);
    this.#bytes += roundUp(bytes.length, 4);
    this.#planesBytes += planeBytes;
    return true;
  }

  end(done: number): EncodedBatch {
    const taken = new Uint32Array(takenWords * this.#files.length);
    for (const [i, { bytes, frame }] of this.#files.entries()) {
      taken.set([this.#positions[i]!, bytes, frame.width, frame.height], takenWords * i);
    }
    const layout = layOutJpegs(this.#files);
    return { done, layout, filesBytes: this.#bytes, taken, captured: this.#captured };
  }
}

/** The bytes of a file, for the caller to give back; undefined for one that is not there as it was planned. */
async function readWhole({ uri, version }: AskedFile, most: number): Promise<Buffer<ArrayBuffer> | undefined> {
  try {
    const file = await quickFiles.open(await allowedPath(fileURLToPath(uri)));
    try {
      const stat = fstatSync(file);
      if (!stat.isFile() || stat.size === 0 || stat.size > most) return undefined;
      if (version !== undefined && !isOfVersion(localVersion(stat), version)) return undefined;
      return await readBytes(file, stat.size);
    } finally {
      await quickFiles.close(file);
    }
  } catch {
    return undefined;
  }
}

/** Undefined where the file has become shorter. */
async function readBytes(file: number, length: number): Promise<Buffer<ArrayBuffer> | undefined> {
  const bytes = takeBytes(length);
  for (let done = 0; done < length; ) {
    const read = await quickFiles.read(file, bytes.subarray(done), done);
    if (read === 0) {
      giveBackBytes(bytes);
      return undefined;
    }
    done += read;
  }
  return bytes;
}

/** Bytes of a plane as it is placed for kernels. */
const spaceOf = ({ width, height }: JpegFrame): number => roundUp(roundUp(width, 16) * height, 256);

const roundUp = (value: number, unit: number): number => Math.ceil(value / unit) * unit;
