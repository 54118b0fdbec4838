import { crc32 } from 'node:zlib';
import type { Size } from '@halogrid/geometry';
import { cellsOf } from '@halogrid/kernels/grid';
import { readCountsAt } from '@halogrid/proto/counts';
import { type FrameColumns, FrameTableError, noZone, readFrameTable } from '@halogrid/proto/frame-table';
import { writeVarints } from '@halogrid/proto/varints';
import {
  allCells,
  binsOfCell,
  binsOfSource,
  digestedBins,
  type HistogramShape,
  isOneCell,
} from '@halogrid/results/histogram-shape';
import { sourceDigest } from '@halogrid/results/source-digest';
import { isCaptureTime } from '@halogrid/sources/captured';
import { SourceRuns } from '../job/source-runs.ts';
import { FrameRows } from '../log/frame-rows.ts';
import { Totals } from '../log/totals.ts';
import { checkCounts, InvalidResultError } from './check-answer.ts';
import { FrameReader } from './frame-reader.ts';

/** Frames of a shard as their node answered them, and what they are checked by. */
export interface FrameOrder {
  /** One a pipeline. */
  shapes: readonly HistogramShape[];
  /** The sources that the frames are, in their order, as SourceRuns has them. */
  runs: Float64Array;
  /** Whether what they state of when they were captured is kept. */
  keepsTimes: boolean;
  table: Uint8Array;
  counts: readonly Uint8Array[];
}

/** All that is kept of frames. */
export interface FrameSummary {
  /** Whether rows have times of capture, which only those of the first pipeline do. */
  isTimed: boolean;
  /** One a pipeline. */
  parts: PartSummary[];
}

export interface PartSummary {
  /** Pixels counted in each channel. */
  counted: bigint;
  /** The sums over all cells of all frames. */
  sums: BigUint64Array;
  /** As FoundPart.stored: the counts of each frame end to end, and behind them the FrameRows, with their CRC-32. */
  stored: Uint8Array;
  countsBytes: number;
  rowsChecksum: number;
}

/** Checks frames and makes of them what is kept. Throws InvalidResultError where they cannot be right. */
export function summarise({ shapes, runs, keepsTimes, table, counts }: FrameOrder): FrameSummary {
  const sources = new SourceRuns(runs).numbers();
  const columns = columnsOf(table, counts);
  if (columns.frames !== sources.length) {
    throw new InvalidResultError(`There are results of ${columns.frames} sources instead of ${sources.length}`);
  }
  if (columns.frames > 0 && columns.parts.length !== shapes.length) {
    throw new InvalidResultError(`There are results of ${columns.parts.length} pipelines instead of ${shapes.length}`);
  }
  checkTimes(columns, sources);
  const bytes = counts.length === 1 ? counts[0]! : Buffer.concat(counts);
  const isTimed = keepsTimes && columns.captured !== undefined;
  let at = 0;
  const parts = shapes.map((shape, i) => {
    const part = new PartReader(shape, columns, i, isTimed && i === 0);
    at = part.read(bytes, at, sources);
    return part.summary();
  });
  if (at !== bytes.length) throw new InvalidResultError(`There are ${bytes.length - at} bytes behind the last count`);
  return { isTimed, parts };
}

function columnsOf(table: Uint8Array, counts: readonly Uint8Array[]): FrameColumns {
  try {
    return readFrameTable(table, counts);
  } catch (error) {
    throw error instanceof FrameTableError ? new InvalidResultError(error.message) : error;
  }
}

function checkTimes({ captured, frames }: FrameColumns, sources: Float64Array): void {
  if (!captured) return;
  for (let i = 0; i < frames; i++) {
    const localMs = captured.localMs[i]!;
    if (Number.isNaN(localMs)) continue;
    const offsetMinutes = captured.offsetMinutes[i]!;
    if (!isCaptureTime(offsetMinutes === noZone ? { localMs } : { localMs, offsetMinutes })) {
      throw new InvalidResultError(`The result of source ${sources[i]} has a capture time that is none`);
    }
  }
}

/** The reader of this thread, once frames come that it reads. */
let frameReader: FrameReader | undefined;

/** Reads what one pipeline found. */
class PartReader {
  readonly #shape: HistogramShape;
  readonly #columns: FrameColumns;
  readonly #part: FrameColumns['parts'][number] | undefined;
  readonly #rows: FrameRows;
  readonly #totals: Totals;
  /** The bins of a frame that touches every cell, and of one that does not. */
  readonly #bins: Uint32Array;
  #counted = 0n;
  /**
   * Counts as they came, from one frame to another that touches every cell, and those of others with all their cells.
   */
  readonly #kept: Uint8Array[] = [];

  constructor(shape: HistogramShape, columns: FrameColumns, part: number, isTimed: boolean) {
    this.#shape = shape;
    this.#columns = columns;
    this.#part = columns.parts[part];
    this.#rows = new FrameRows(columns.frames, isTimed);
    this.#totals = new Totals(binsOfCell(shape));
    this.#bins = new Uint32Array(binsOfSource(shape));
    if (!isTimed) return;
    this.#rows.localMs!.set(columns.captured!.localMs);
    this.#rows.offsetMinutes!.set(columns.captured!.offsetMinutes);
  }

  /** Reads counts from byte `from` on; returns where they end. */
  read(bytes: Uint8Array, from: number, sources: Float64Array): number {
    const { frames, widths, heights } = this.#columns;
    const rows = this.#rows;
    rows.widths.set(widths);
    rows.heights.set(heights);
    if (frames > 0) rows.counted.set(this.#part!.counted);
    return this.#readWhole(bytes, from) ?? this.#readOneByOne(bytes, from, sources);
  }

  /** Undefined where frames have several cells or no counts, and where something is not as it has to be. */
  #readWhole(bytes: Uint8Array, from: number): number | undefined {
    const { grid, channels, bins, isNear = false } = this.#shape;
    const rows = this.#rows;
    if (rows.frames === 0 || bins === 0 || !isOneCell(grid)) return undefined;
    if (!this.#part!.binCounts.every((count) => count === channels * bins)) return undefined;
    frameReader ??= new FrameReader();
    const read = frameReader.read(bytes, from, { channels, bins, isNear, rows });
    if (!read) return undefined;
    this.#totals.addSums(read.sums);
    this.#counted = sumOf(rows.counted);
    this.#kept.push(bytes.subarray(from, read.end));
    return read.end;
  }

  #readOneByOne(bytes: Uint8Array, from: number, sources: Float64Array): number {
    const { frames, widths, heights } = this.#columns;
    const rows = this.#rows;
    let [at, keptTo] = [from, from];
    for (let row = 0; row < frames; row++) {
      const size = { width: widths[row]!, height: heights[row]! };
      const source = sources[row]!;
      checkSize(source, size);
      const bins = this.#binsOf(row, size, source);
      const end = readBins(source, bytes, at, bins);
      const pixels = rows.counted[row]!;
      checkCounts({ source, size, rect: { x: 0, y: 0, ...size }, counted: pixels, bins }, this.#shape);
      let packed = bytes.subarray(at, end);
      let all = bins;
      if (bins.length !== this.#bins.length) {
        all = allCells(this.#shape, size, bins);
        this.#kept.push(bytes.subarray(keptTo, at));
        packed = pack(all);
        this.#kept.push(packed);
        keptTo = end;
      }
      rows.digests.set(sourceDigest(size, pixels, digestedBins(this.#shape, all)), 32 * row);
      this.#totals.add(all, size.width * size.height);
      rows.lengths[row] = packed.length;
      rows.checksums[row] = crc32(packed);
      at = end;
    }
    this.#counted = sumOf(rows.counted);
    this.#kept.push(bytes.subarray(keptTo, at));
    return at;
  }

  summary(): PartSummary {
    const countsBytes = this.#kept.reduce((sum, { length }) => sum + length, 0);
    const stored = new Uint8Array(countsBytes + this.#rows.bytes.length);
    let at = 0;
    for (const bytes of [...this.#kept, this.#rows.bytes]) {
      stored.set(bytes, at);
      at += bytes.length;
    }
    const rowsChecksum = crc32(this.#rows.bytes);
    return { counted: this.#counted, sums: this.#totals.sums, stored, countsBytes, rowsChecksum };
  }

  /** Room for the bins that the frame has. Throws where it says that it has others. */
  #binsOf(row: number, size: Size, source: number): Uint32Array {
    const { grid } = this.#shape;
    const cellBins = binsOfCell(this.#shape);
    const isWhole = cellBins === 0 || isOneCell(grid);
    const bins = isWhole ? this.#bins.length : cellsOf(grid, size, { x: 0, y: 0, ...size }).length * cellBins;
    const said = this.#part!.binCounts[row]!;
    if (said !== bins) {
      throw new InvalidResultError(`The result of source ${source} has ${said} bins instead of ${bins}`);
    }
    return bins === this.#bins.length ? this.#bins : new Uint32Array(bins);
  }
}

/** The exact sum of integers below 2^53. */
function sumOf(values: Float64Array): bigint {
  let [sum, recent] = [0n, 0];
  for (const value of values) {
    recent += value;
    if (recent <= 2 ** 52) continue;
    sum += BigInt(recent);
    recent = 0;
  }
  return sum + BigInt(recent);
}

function checkSize(source: number, { width, height }: Size): void {
  const pixels = width * height;
  if (pixels > 0 && Number.isSafeInteger(pixels)) return;
  throw new InvalidResultError(`The result of source ${source} has ${width} x ${height} pixels`);
}

function pack(bins: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(5 * bins.length);
  return bytes.subarray(0, writeVarints(bins, bytes, 0));
}

function readBins(source: number, packed: Uint8Array, at: number, bins: Uint32Array): number {
  try {
    return readCountsAt(packed, at, bins);
  } catch (error) {
    throw new InvalidResultError(`The result of source ${source} has bins that are none: ${(error as Error).message}`);
  }
}
