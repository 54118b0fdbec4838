import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { countArrays, paddedLength, widthFor } from '../scan/count-arrays.ts';
import type { IndexedJob, Segment, StoredBlock } from './manifest.ts';
import { noText, type RowColumns, rowsFile } from './row-columns.ts';
import { TextTable } from './text-table.ts';

/** A frame to be added to an index. */
export interface IndexFrame {
  readonly uri: string;
  readonly frame: number;
  /** NaN if not known; so is `capturedAtMs`. */
  readonly timestampMs: number;
  readonly capturedAtMs: number;
  readonly camera: string | null;
  /** Counts of each cell, one cell after another. */
  readonly bins: ArrayLike<number>;
}

/** A job, whose frames are yet to be counted. */
export type JobName = Omit<IndexedJob, 'frames'>;

/** The most counts of a block: four megabytes if they need 32 bits. Threads of a search share blocks out evenly. */
const blockCounts = 2 ** 20;

/** Writes the two files of a segment, frame by frame; it has one block and the rows in memory. */
export class SegmentWriter {
  readonly #path: string;
  readonly #name: string;
  readonly #bins: FileHandle;
  readonly #cells: number;
  readonly #cellBins: number;
  readonly #cellLength: number;
  readonly #blockFrames: number;
  readonly #block: Float64Array;
  readonly #blocks: StoredBlock[] = [];
  readonly #jobs: (JobName & { frames: number })[] = [];
  readonly #columns = {
    capturedAtMs: [] as number[],
    timestampMs: [] as number[],
    masses: [] as number[],
    source: [] as number[],
    camera: [] as number[],
    frame: [] as number[],
  };
  readonly #texts = new TextTable();
  #inBlock = 0;
  #largest = 0;

  static async create(
    folder: string,
    name: string,
    shape: { cells: number; cellBins: number },
  ): Promise<SegmentWriter> {
    return new SegmentWriter(folder, name, shape, await open(join(folder, `${name}.bins`), 'wx'));
  }

  private constructor(
    folder: string,
    name: string,
    { cells, cellBins }: { cells: number; cellBins: number },
    bins: FileHandle,
  ) {
    this.#path = join(folder, name);
    this.#name = name;
    this.#bins = bins;
    this.#cells = cells;
    this.#cellBins = cellBins;
    this.#cellLength = paddedLength(cellBins);
    this.#blockFrames = Math.max(1, Math.floor(blockCounts / (this.#cellLength * cells)));
    this.#block = new Float64Array(this.#blockFrames * cells * this.#cellLength);
  }

  get frames(): number {
    return this.#columns.frame.length;
  }

  /** Adds a frame of a job, which may be reused afterwards. Wait until it is added before adding the next. */
  async add(job: JobName, frame: IndexFrame): Promise<void> {
    const columns = this.#columns;
    columns.capturedAtMs.push(frame.capturedAtMs);
    columns.timestampMs.push(frame.timestampMs);
    columns.source.push(this.#texts.numberOf(frame.uri));
    columns.camera.push(frame.camera === null ? noText : this.#texts.numberOf(frame.camera));
    columns.frame.push(frame.frame);
    this.#addBins(frame.bins);
    const last = this.#jobs.at(-1);
    if (last?.id === job.id) last.frames++;
    else this.#jobs.push({ ...job, frames: 1 });
    if (++this.#inBlock === this.#blockFrames) await this.#writeBlock();
  }

  /** Ends both files and makes them durable. They belong to the index when its manifest names them. */
  async finish(): Promise<Segment> {
    if (this.#inBlock > 0) await this.#writeBlock();
    await this.#bins.sync();
    await this.#bins.close();
    const bytes = rowsFile(this.#rowColumns());
    const rows = await open(`${this.#path}.rows`, 'wx');
    try {
      await rows.writeFile(bytes);
      await rows.sync();
    } finally {
      await rows.close();
    }
    const entry = { texts: this.#texts.size, bytes: bytes.length, crc32: crc32(bytes) };
    return { name: this.#name, jobs: this.#jobs, frames: this.frames, rows: entry, blocks: this.#blocks };
  }

  /** Removes what was written. */
  async abort(): Promise<void> {
    await this.#bins.close().catch(() => {});
    await rm(`${this.#path}.bins`, { force: true });
    await rm(`${this.#path}.rows`, { force: true });
  }

  #addBins(bins: ArrayLike<number>): void {
    const cellBins = this.#cellBins;
    for (let cell = 0; cell < this.#cells; cell++) {
      const at = (this.#inBlock * this.#cells + cell) * this.#cellLength;
      let mass = 0;
      for (let bin = 0; bin < cellBins; bin++) {
        const count = bins[cell * cellBins + bin]!;
        this.#block[at + bin] = count;
        mass += count;
        if (count > this.#largest) this.#largest = count;
      }
      this.#columns.masses.push(mass);
    }
  }

  async #writeBlock(): Promise<void> {
    const width = widthFor(this.#largest);
    const counts = countArrays[width].from(this.#block.subarray(0, this.#inBlock * this.#cells * this.#cellLength));
    const bytes = new Uint8Array(counts.buffer);
    await this.#bins.writeFile(bytes);
    this.#blocks.push({ frames: this.#inBlock, width, crc32: crc32(bytes) });
    this.#inBlock = 0;
    this.#largest = 0;
  }

  #rowColumns(): RowColumns {
    const { capturedAtMs, timestampMs, masses, source, camera, frame } = this.#columns;
    return {
      capturedAtMs: Float64Array.from(capturedAtMs),
      timestampMs: Float64Array.from(timestampMs),
      masses: Float64Array.from(masses),
      source: Uint32Array.from(source),
      camera: Uint32Array.from(camera),
      frame: Uint32Array.from(frame),
      ...this.#texts.columns(),
    };
  }
}
