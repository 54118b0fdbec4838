import type { ColumnChunk } from 'hyparquet';
import type { ParquetWriter, SchemaElement } from 'hyparquet-writer';
import { writeColumnPage } from './column-page.ts';
import { maxDeltaPacked } from './delta-pack.ts';
import { encodeCounts, encodeLevels } from './number-columns.ts';

/**
 * The column `histogram` of a Parquet file, a list of `bins` counts in every row: packed as differences of neighbours in as
 * few bits as they need. It is int32, or int64 where any count of the file needs that.
 *
 * The counts of a row group lie end to end in one array, and the levels that say where lists begin are those of the row group
 * before. The general encoder would be given an array a row, and levels of every count. Measured with 256 bins: that took ten times
 * as long.
 */
export class HistogramColumn {
  /** The part of the file's schema; valid once `finish` was called. */
  readonly schema: readonly SchemaElement[];
  readonly #bins: number;
  readonly #element: SchemaElement = { name: 'element', type: 'INT32', repetition_type: 'REQUIRED' };
  /** Counts of a full row group. */
  readonly #counts: Float64Array;
  /** Levels of the last row group that was written. */
  #levels: ReturnType<typeof listLevels> & { rows: number } = { rows: 0, ...listLevels(0, 1) };
  readonly #chunks: ColumnChunk[] = [];
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
    this.#counts = new Float64Array(bins * groupRows);
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

  /**
   * Adds the counts of the next row from the varints that begin at `at`, as `readVarints` reads them. Returns where they end. Those of
   * up to four bytes are read without asking for each byte whether it is the last, which a processor guesses wrong for counts of a
   * photograph: that takes half of the time (measured).
   */
  addPacked(bytes: DataView, at: number): number {
    let largest = this.#largestOfGroup;
    const target = this.#counts;
    const end = this.#used + this.#bins;
    const lastWord = bytes.byteLength - 4;
    for (let i = this.#used; i < end; i++) {
      const word = at <= lastWord ? bytes.getInt32(at, true) : -1;
      const ends = ~word & 0x80808080;
      let count: number;
      if (ends === 0) [count, at] = longVarint(bytes, at);
      else {
        // The lowest of the bits that say that a byte is the last, and all below it.
        const own = word & (ends ^ (ends - 1));
        count = (own & 0x7f) | ((own >>> 1) & 0x3f80) | ((own >>> 2) & 0x1fc000) | ((own >>> 3) & 0xfe00000);
        at += (39 - Math.clz32(ends & -ends)) >>> 3;
      }
      if (count > largest) largest = count;
      target[i] = count;
    }
    this.#used = end;
    this.#largestOfGroup = largest;
    return at;
  }

  /** What the first `bins` counts of the row that was added last come to. */
  sumOfLast(bins: number): number {
    let sum = 0;
    const from = this.#used - this.#bins;
    for (let i = from; i < from + bins; i++) sum += this.#counts[i]!;
    return sum;
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
      ...encodeCounts(this.#counts, values, this.#largestOfGroup),
    });
    this.#chunks.push(chunk);
    this.#largest = Math.max(this.#largest, this.#largestOfGroup);
    this.#largestOfGroup = 0;
    this.#used = 0;
    return chunk;
  }

  /**
   * Settles the type, which is that of all row groups. Groups with small counts only were written as int32, and are int64
   * just as well: in this encoding differences of counts below 2^31 are the same bits in both.
   */
  finish(): void {
    const type = typeOf(this.#largest);
    this.#element.type = type;
    for (const { meta_data } of this.#chunks) meta_data!.type = type;
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

/** A varint of more than four bytes, or one at the end of its block, and where it ends. */
function longVarint(bytes: DataView, at: number): [count: number, end: number] {
  let count = 0;
  for (let scale = 1; ; scale *= 0x80) {
    const byte = bytes.getUint8(at++);
    count += (byte & 0x7f) * scale;
    if (byte < 0x80) return [count, at];
  }
}
