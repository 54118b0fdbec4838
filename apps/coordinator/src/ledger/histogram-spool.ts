import { type FileHandle, open } from 'node:fs/promises';
import type { HistogramPlace } from './read-histograms.ts';
import { SpoolIndex } from './spool-index.ts';
import { maxVarintBytes, writeVarints } from './varints.ts';

/** What is written at once. */
const blockBytes = 2 ** 20;

/** What may wait for the disk before `room` does. */
const maxWaitingBytes = 8 * 2 ** 20;

/**
 * The histograms of the sources of a job until its output is written, in a file, because a million frames of them are more
 * than memory holds. Counts are kept as varints: one byte below 128, two below 16,384 and so on. In memory are 12 bytes a
 * source and what waits for the disk. The file's folder must exist; nothing is synced, because the file is of no use to
 * another process. `readHistograms` reads it.
 */
export class HistogramSpool {
  readonly path: string;
  readonly #index = new SpoolIndex();
  /** Open while there is something to write. */
  #file: FileHandle | undefined;
  #block = new Uint8Array(0);
  #usedBytes = 0;
  /** Bytes that were appended, and so the offset of what comes next. */
  #endBytes = 0;
  /** How far the file holds what was appended. */
  #writtenBytes = 0;
  #hasFailed = false;
  /** When the blocks before are written; rejects as the first of them did. */
  #written = Promise.resolve();

  constructor(path: string) {
    this.path = path;
  }

  /** Keeps the counts of a source, integers from 0 to 2^53 - 1. A source is appended once. */
  append(source: number, bins: ArrayLike<number>): void {
    this.#reserve(bins.length * maxVarintBytes);
    const length = writeVarints(bins, this.#block, this.#usedBytes) - this.#usedBytes;
    this.#index.set(source, this.#endBytes, length);
    this.#usedBytes += length;
    this.#endBytes += length;
  }

  /** Resolves when little waits for the disk. Rejects with one sentence where writing has failed. */
  async room(): Promise<void> {
    if (this.#hasFailed || this.#endBytes - this.#writtenBytes > maxWaitingBytes) await this.#written;
  }

  /** Writes what was appended, and lets go of the file. Rejects with one sentence where writing has failed. */
  async flush(): Promise<void> {
    this.#writeBlock();
    await this.#written;
    await this.close();
  }

  /** Where the file has a source that was appended; undefined while it waits for the disk. */
  written(source: number): HistogramPlace | undefined {
    const place = this.#index.get(source);
    return place.offset + place.length <= this.#writtenBytes ? place : undefined;
  }

  /** Lets go of the file, when what is being written is; what was appended since the last block is not. */
  async close(): Promise<void> {
    await this.#written.catch(() => {});
    await this.#file?.close();
    this.#file = undefined;
  }

  /** Makes room for that many bytes in the block. */
  #reserve(bytes: number): void {
    if (this.#usedBytes + bytes <= this.#block.length) return;
    this.#writeBlock();
    this.#block = new Uint8Array(Math.max(blockBytes, bytes));
  }

  #writeBlock(): void {
    const block = this.#block.subarray(0, this.#usedBytes);
    this.#block = this.#block.subarray(this.#usedBytes);
    this.#usedBytes = 0;
    if (block.length === 0) return;
    this.#written = this.#written.then(async () => {
      try {
        this.#file ??= await open(this.path, 'a');
        await this.#file.writeFile(block);
      } catch (error) {
        this.#hasFailed = true;
        const why = error instanceof Error ? error.message : String(error);
        throw new Error(`The histograms could not be kept in '${this.path}': ${why}`, { cause: error });
      }
      this.#writtenBytes += block.length;
    });
    // Whoever waits for it meets its failure.
    this.#written.catch(() => {});
  }
}
