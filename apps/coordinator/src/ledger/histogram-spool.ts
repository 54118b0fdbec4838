import { closeSync, openSync } from 'node:fs';
import { constants, copyFile, open, rename } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { maxVarintBytes, varintsLength, writeVarints } from '@halogrid/proto/varints';
import { lackOf } from '../job/output-lack.ts';
import type { HistogramPlace } from '../log/settled-source.ts';
import { describeEarlyEnd, fillFrom } from './histogram-file.ts';
import { SpoolIndex } from './spool-index.ts';

/** A file of histograms that is open. */
export interface SpoolFile {
  readonly fd: number;
  stat(): Promise<{ size: number }>;
  truncate(bytes: number): Promise<void>;
  writev(blocks: readonly Uint8Array[], at: number): Promise<{ bytesWritten: number }>;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

/** What a file of histograms asks of the disk; each call is that of node:fs/promises. */
export interface SpoolDisk {
  open(path: string, flags: string): Promise<SpoolFile>;
  copyFile(from: string, to: string, mode: number): Promise<void>;
  rename(from: string, to: string): Promise<void>;
}

const systemDisk: SpoolDisk = { open, copyFile, rename };

/** What memory is taken for at once. */
const blockBytes = 2 ** 20;

/**
 * The histograms of the sources of a job until its output is written, in a file, because a million frames of them are more
 * than memory holds. Counts are kept as varints: one byte below 128, two below 16,384 and so on. Blocks of bytes that others know the
 * places of lie among them: see StoredFrames and StoredSources. In memory are 16 bytes a source that was appended by itself and
 * what was appended since the last `sync`. The file's folder must exist. `readHistograms` reads it.
 */
export class HistogramSpool {
  readonly path: string;
  readonly #disk: SpoolDisk;
  readonly #index = new SpoolIndex();
  /** Open while there is something to write. */
  #file: SpoolFile | undefined;
  /** What waits for the disk. The last one is being filled. */
  #blocks: { bytes: Uint8Array; usedBytes: number }[] = [];
  /** Bytes that were appended, and so the offset of what comes next. */
  #endBytes = 0;
  /** How far the file holds what was appended, whatever happens to the machine. */
  #syncedBytes = 0;

  constructor(path: string, disk = systemDisk) {
    this.path = path;
    this.#disk = disk;
  }

  /** An earlier process appended a source, and synced it. */
  restore(source: number, place: HistogramPlace): void {
    this.#index.set(source, place);
    this.#endBytes = Math.max(this.#endBytes, place.offset + place.length);
    this.#syncedBytes = this.#endBytes;
  }

  /**
   * Goes on after what was restored, in a copy of the file that takes its place: an earlier process that stood still, and does not
   * know yet that it leads no more, writes to its own. Rejects with one sentence where the file is too short.
   */
  async recover(): Promise<void> {
    const next = `${this.path}.next`;
    const { open, copyFile, rename } = this.#disk;
    let file: SpoolFile | undefined;
    try {
      if (this.#endBytes > 0) await copyFile(this.path, next, constants.COPYFILE_FICLONE);
      file = await open(next, this.#endBytes > 0 ? 'r+' : 'w+');
      const { size } = await file.stat();
      if (size < this.#endBytes) throw new Error(`the file has ${size} bytes instead of ${this.#endBytes}`);
      await file.truncate(this.#endBytes);
      await file.datasync();
      await rename(next, this.path);
    } catch (error) {
      await file?.close();
      const what = lackOf(error)?.kind === 'room' ? 'cannot be copied' : 'are lost';
      throw new Error(`The histograms in '${this.path}' ${what}: ${reason(error)}`, { cause: error });
    }
    this.#file = file;
  }

  /** Keeps the counts of a source, integers from 0 to 2^53 - 1. A source is appended once. */
  append(source: number, bins: ArrayLike<number>): void {
    const mostBytes = bins.length * maxVarintBytes;
    // Room for many of the longest counts would be several times what they take.
    const block = this.#roomFor(mostBytes <= blockBytes ? mostBytes : varintsLength(bins));
    const from = block.usedBytes;
    block.usedBytes = writeVarints(bins, block.bytes, from);
    const length = block.usedBytes - from;
    const checksum = crc32(block.bytes.subarray(from, block.usedBytes));
    this.#index.set(source, { offset: this.#endBytes, length, checksum });
    this.#endBytes += length;
  }

  /** Byte behind all that was appended. */
  get end(): number {
    return this.#endBytes;
  }

  /** Keeps bytes that `read` gives back, behind all else. They are the spool's from now on. */
  appendBlock(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const last = this.#blocks.at(-1);
    // What is behind the block goes to the next one.
    if (last) last.bytes = last.bytes.subarray(0, last.usedBytes);
    this.#blocks.push({ bytes, usedBytes: bytes.length });
    this.#endBytes += bytes.length;
  }

  /** An earlier process appended a block that ends there, and synced it. */
  restoreBlock(end: number): void {
    this.#endBytes = Math.max(this.#endBytes, end);
    this.#syncedBytes = this.#endBytes;
  }

  /** Whether the file holds what was appended up to that byte. */
  isWritten(end: number): boolean {
    return end <= this.#syncedBytes;
  }

  /** A copy of bytes of one block, from the disk or before they are there. Waits for the disk. Throws where the file has fewer. */
  read(offset: number, length: number): Uint8Array<ArrayBuffer> {
    const copy = new Uint8Array(length);
    if (this.isWritten(offset + length)) {
      this.#readFile(copy, offset);
      return copy;
    }
    let from = this.#syncedBytes;
    for (const { bytes, usedBytes } of this.#blocks) {
      if (offset >= from && offset + length <= from + usedBytes) {
        copy.set(bytes.subarray(offset - from, offset - from + length));
        return copy;
      }
      from += usedBytes;
    }
    throw new RangeError(`There are no bytes ${offset} to ${offset + length} of a block`);
  }

  /**
   * Writes what was appended before, and resolves when it stays there. Rejects with one sentence where that fails, and may be
   * called again then. One call at a time.
   */
  async sync(): Promise<void> {
    const to = this.#endBytes;
    if (this.#syncedBytes === to) return;
    const blocks = this.#blocks.map(({ bytes, usedBytes }) => bytes.subarray(0, usedBytes));
    try {
      // A file that is there before anything was written is that of a later process.
      this.#file ??= await this.#disk.open(this.path, this.#syncedBytes > 0 ? 'r+' : 'wx+');
      await writeAll(this.#file, blocks, this.#syncedBytes);
      await this.#file.datasync();
    } catch (error) {
      throw new Error(`The histograms could not be kept in '${this.path}': ${reason(error)}`, { cause: error });
    }
    this.#syncedBytes = to;
    // The last block may have been added to, or others begun, meanwhile.
    const last = this.#blocks[blocks.length - 1]!;
    const writtenBytes = blocks.at(-1)!.length;
    this.#blocks.splice(0, blocks.length, {
      bytes: last.bytes.subarray(writtenBytes),
      usedBytes: last.usedBytes - writtenBytes,
    });
  }

  /** Where the file has a source that was appended; undefined while it waits for the disk. */
  written(source: number): HistogramPlace | undefined {
    const place = this.#index.get(source);
    return place.offset + place.length <= this.#syncedBytes ? place : undefined;
  }

  /** Where the file has, or will have, a source that was appended. */
  place(source: number): HistogramPlace {
    return this.#index.get(source);
  }

  /** Lets go of the file; what was appended since the last `sync` is not written. */
  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = undefined;
  }

  #readFile(target: Uint8Array, at: number): void {
    const file = this.#file?.fd ?? openSync(this.path, 'r');
    try {
      if (!fillFrom(file, target, at)) throw new RangeError(describeEarlyEnd(this.path));
    } finally {
      if (!this.#file) closeSync(file);
    }
  }

  #roomFor(bytes: number): { bytes: Uint8Array; usedBytes: number } {
    const last = this.#blocks.at(-1);
    if (last && last.usedBytes + bytes <= last.bytes.length) return last;
    const block = { bytes: new Uint8Array(Math.max(blockBytes, bytes)), usedBytes: 0 };
    this.#blocks.push(block);
    return block;
  }
}

/** Blocks that a system takes in one call, at least. */
const blocksAtOnce = 1024;

/** Many blocks cost one turn of the thread: a plan of small shards has one for each of them. */
async function writeAll(file: SpoolFile, blocks: readonly Uint8Array[], from: number): Promise<void> {
  let at = from;
  for (let first = 0; first < blocks.length; first += blocksAtOnce) {
    const left = blocks.slice(first, first + blocksAtOnce);
    while (left.length > 0) {
      let { bytesWritten } = await file.writev(left, at);
      at += bytesWritten;
      while (left.length > 0 && bytesWritten >= left[0]!.length) bytesWritten -= left.shift()!.length;
      if (left.length > 0) left[0] = left[0]!.subarray(bytesWritten);
    }
  }
}

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error));
