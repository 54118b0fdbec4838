import { WasmModule } from '@halogrid/kernels/wasm-module';
import type { EncodedColumn } from './column-page.ts';
import { deltaPackedBytes, maxDeltaPacked } from './delta-pack.ts';
import { encodeLevels, plainInt64 } from './number-columns.ts';

interface Exports {
  unpack(at: number, count: number, target: number): number;
  largest(): number;
  sum(at: number, count: number): number;
  pack(values: number, count: number, at: number): number;
}

/** Bytes of a count as float64, and of a varint at most. */
const wordBytes = 8;

/** A column of lists, and whether one of its counts needs int64. */
export type EncodedHistograms = EncodedColumn & { isWide: boolean };

type Levels = Required<Pick<EncodedColumn, 'repetitionLevels' | 'definitionLevels'>>;

/**
 * The histograms of a page, `bins` counts each, whole numbers from 0 to 2^53 - 1. By WebAssembly: reading and packing 256 takes 0.8 µs
 * where TypeScript took 3.4 (measured).
 */
export class HistogramList {
  readonly #bins: number;
  /** Its memory holds the counts of a full page, as float64, then these as they are packed, and what is loaded. */
  readonly #wasm = new WasmModule<Exports>(new URL('./histograms.wasm', import.meta.url));
  readonly #packedAt: number;
  readonly #loadedAt: number;
  /** Of the memory, which is another one once it has grown. */
  #counts: Float64Array | undefined;
  #loaded = 0;
  #rows = 0;
  #largest = 0;
  /** The levels of the page before, which are mostly those of the next. */
  #levels: Levels & { rows: number };

  /** `bins` is 1 or more. A page has `mostRows` at most. */
  constructor(bins: number, mostRows: number) {
    this.#bins = bins;
    this.#levels = { rows: mostRows, ...listLevels(mostRows, bins) };
    this.#packedAt = WasmModule.begin + wordBytes * bins * mostRows;
    this.#loadedAt = this.#packedAt + deltaPackedBytes(bins * mostRows);
    this.#wasm.reserve(this.#loadedAt);
  }

  /** Adds the counts of the next row. */
  add(counts: ArrayLike<number>): void {
    const words = this.#words();
    let at = this.#bins * this.#rows++;
    let largest = this.#largest;
    for (let i = 0; i < this.#bins; i++) {
      const count = counts[i]!;
      words[at++] = count;
      if (count > largest) largest = count;
    }
    this.#largest = largest;
  }

  /** Takes the varints that `addPacked` reads next. */
  load(bytes: Uint8Array): void {
    this.#loaded = bytes.length;
    // A row whose counts end before is read to its end all the same, a word each.
    const memory = this.#wasm.reserve(this.#loadedAt + bytes.length + wordBytes * this.#bins);
    memory.set(bytes, this.#loadedAt);
  }

  /** Adds the counts of the next row from the varints that begin at byte `at` of those. Returns where they end. Throws RangeError beyond. */
  addPacked(at: number): number {
    const { exports } = this.#wasm;
    const end = exports.unpack(this.#loadedAt + at, this.#bins, this.#rowAt(this.#rows)) - this.#loadedAt;
    if (end > this.#loaded) throw new RangeError('The counts of a row end early');
    this.#rows++;
    this.#largest = Math.max(this.#largest, exports.largest());
    return end;
  }

  /** What the first `bins` counts of the row that was added last come to. */
  sumOfLast(bins: number): number {
    return this.#wasm.exports.sum(this.#rowAt(this.#rows - 1), bins);
  }

  clear(): void {
    this.#rows = 0;
    this.#largest = 0;
  }

  /**
   * The column of the rows: packed as differences of neighbours in as few bits as they need. Counts below 2^31 are the same bytes in a column
   * of int32 and of int64, so that a page does not depend on other pages of its file. Valid until a row is added.
   */
  encode(): EncodedHistograms {
    const [rows, bins] = [this.#rows, this.#bins];
    if (this.#levels.rows !== rows) this.#levels = { rows, ...listLevels(rows, bins) };
    const values = rows * bins;
    const { repetitionLevels, definitionLevels } = this.#levels;
    const column = { values, nulls: 0, repetitionLevels, definitionLevels };
    const { buffer, exports } = this.#wasm;
    if (this.#largest > maxDeltaPacked) {
      const data = plainInt64(new Float64Array(buffer, WasmModule.begin, values));
      return { ...column, encoding: 'PLAIN', data, isWide: true };
    }
    const end = exports.pack(WasmModule.begin, values, this.#packedAt);
    const data = new Uint8Array(buffer, this.#packedAt, end - this.#packedAt);
    return { ...column, encoding: 'DELTA_BINARY_PACKED', data, isWide: false };
  }

  #rowAt(row: number): number {
    return WasmModule.begin + wordBytes * this.#bins * row;
  }

  /** The counts of the page. A view for each row would take longer than what is done with it. */
  #words(): Float64Array {
    if (this.#counts?.buffer !== this.#wasm.buffer) {
      this.#counts = new Float64Array(
        this.#wasm.buffer,
        WasmModule.begin,
        (this.#packedAt - WasmModule.begin) / wordBytes,
      );
    }
    return this.#counts;
  }
}

/** The levels of lists of `bins` counts: repetition is 0 where one begins and 1 where it goes on, definition 1, because none is empty. */
function listLevels(rows: number, bins: number): Levels {
  const levels = new Uint8Array(rows * bins).fill(1);
  const definitionLevels = encodeLevels(levels);
  for (let i = 0; i < levels.length; i += bins) levels[i] = 0;
  return { repetitionLevels: encodeLevels(levels), definitionLevels };
}
