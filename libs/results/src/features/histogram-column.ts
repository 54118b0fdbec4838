import { WasmModule } from '@halogrid/kernels/wasm-module';
import type { ColumnChunk } from 'hyparquet';
import type { ParquetWriter, SchemaElement } from 'hyparquet-writer';
import { type ColumnPage, writeColumnPage } from './column-page.ts';
import { deltaPackedBytes, maxDeltaPacked } from './delta-pack.ts';
import { encodeCounts, encodeLevels } from './number-columns.ts';

interface Exports {
  unpack(at: number, count: number, target: number): number;
  largest(): number;
  sum(at: number, count: number): number;
  pack(values: number, count: number, at: number): number;
}

/** Bytes of a count as float64, and of a varint at most. */
const wordBytes = 8;

/**
 * The column `histogram` of a Parquet file, a list of `bins` counts in every row: packed as differences of neighbours in as
 * few bits as they need. It is int32, or int64 where any count of the file needs that.
 *
 * The counts of a row group lie end to end in one array, and the levels that say where lists begin are those of the row group
 * before. The general encoder would be given an array a row, and levels of every count. Measured with 256 bins: that took ten times
 * as long, and reading and packing by WebAssembly takes 0.8 µs a row where TypeScript took 3.4.
 */
export class HistogramColumn {
  /** The part of the file's schema; valid once `finish` was called. */
  readonly schema: readonly SchemaElement[];
  readonly #bins: number;
  readonly #element: SchemaElement = { name: 'element', type: 'INT32', repetition_type: 'REQUIRED' };
  /** Its memory holds the counts of a full row group, as float64, then these as they are packed, and what is loaded. */
  readonly #wasm = new WasmModule<Exports>(new URL('./histograms.wasm', import.meta.url));
  readonly #packedAt: number;
  readonly #loadedAt: number;
  #loaded = 0;
  /** Levels of the last row group that was written. */
  #levels: ReturnType<typeof listLevels> & { rows: number } = { rows: 0, ...listLevels(0, 1) };
  #used = 0;
  #largestOfGroup = 0;
  #largest = 0;

  /** `bins` is 1 or more. A row group has `groupRows` rows at most. */
  constructor(bins: number, groupRows: number) {
    this.schema = [
      { name: 'histogram', converted_type: 'LIST', repetition_type: 'REQUIRED', num_children: 1 },
      { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      this.#element,
    ];
    this.#bins = bins;
    const counts = bins * groupRows;
    this.#packedAt = WasmModule.begin + wordBytes * counts;
    this.#loadedAt = this.#packedAt + deltaPackedBytes(counts);
    this.#wasm.reserve(this.#loadedAt);
  }

  /**
   * Adds the `bins` counts of the next row. Returns -1, or the place of the first that is no whole number from 0 to 2^53 - 1; the row
   * is not added then.
   */
  add(counts: ArrayLike<number>): number {
    let largest = this.#largestOfGroup;
    const target = this.#counts;
    const used = this.#used;
    for (let i = 0; i < this.#bins; i++) {
      const count = counts[i]!;
      // Most counts are small, and this is the quicker question.
      if (!((count | 0) === count && count >= 0) && !(Number.isSafeInteger(count) && count >= 0)) return i;
      if (count > largest) largest = count;
      target[used + i] = count;
    }
    this.#used = used + this.#bins;
    this.#largestOfGroup = largest;
    return -1;
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
    const target = WasmModule.begin + wordBytes * this.#used;
    const end = exports.unpack(this.#loadedAt + at, this.#bins, target) - this.#loadedAt;
    if (end > this.#loaded) throw new RangeError('The counts of a row end early');
    this.#used += this.#bins;
    this.#largestOfGroup = Math.max(this.#largestOfGroup, exports.largest());
    return end;
  }

  /** What the first `bins` counts of the row that was added last come to. */
  sumOfLast(bins: number): number {
    return this.#wasm.exports.sum(WasmModule.begin + wordBytes * (this.#used - this.#bins), bins);
  }

  /** Writes the rows that were added, as the last column of a row group. */
  write(parquet: ParquetWriter): ColumnChunk {
    const values = this.#used;
    const rows = values / this.#bins;
    if (this.#levels.rows !== rows) this.#levels = { rows, ...listLevels(rows, this.#bins) };
    const chunk = writeColumnPage(parquet, {
      path: ['histogram', 'list', 'element'],
      type: typeOf(this.#largestOfGroup),
      ...{ ...this.#levels, values, nulls: 0 },
      ...this.#encode(),
    });
    this.#largest = Math.max(this.#largest, this.#largestOfGroup);
    this.#largestOfGroup = 0;
    this.#used = 0;
    return chunk;
  }

  get #counts(): Float64Array {
    return new Float64Array(this.#wasm.buffer, WasmModule.begin, this.#used + this.#bins);
  }

  /** As encodeCounts; valid until the next row is added. */
  #encode(): Pick<ColumnPage, 'data' | 'encoding'> {
    if (this.#largestOfGroup > maxDeltaPacked) return encodeCounts(this.#counts, this.#used, this.#largestOfGroup);
    const { buffer, exports } = this.#wasm;
    const end = exports.pack(WasmModule.begin, this.#used, this.#packedAt);
    return { data: new Uint8Array(buffer, this.#packedAt, end - this.#packedAt), encoding: 'DELTA_BINARY_PACKED' };
  }

  /**
   * Settles the type, which is that of all row groups, and returns it. Groups with small counts only were written as int32, and are
   * int64 just as well: in this encoding differences of counts below 2^31 are the same bits in both.
   */
  finish(): 'INT32' | 'INT64' {
    const type = typeOf(this.#largest);
    this.#element.type = type;
    return type;
  }
}

const typeOf = (largest: number): 'INT32' | 'INT64' => (largest > maxDeltaPacked ? 'INT64' : 'INT32');

/** The levels of lists of `bins` counts: repetition is 0 where one begins and 1 where it goes on, definition 1, because none is empty. */
function listLevels(rows: number, bins: number): { repetitionLevels: Uint8Array; definitionLevels: Uint8Array } {
  const levels = new Uint8Array(rows * bins).fill(1);
  const definitionLevels = encodeLevels(levels);
  for (let i = 0; i < levels.length; i += bins) levels[i] = 0;
  return { repetitionLevels: encodeLevels(levels), definitionLevels };
}
