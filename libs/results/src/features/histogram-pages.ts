import type { ColumnMetaData, SchemaElement } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { decompressPage } from 'hyparquet/src/datapage.js';
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js';
import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js';

/** The histograms of a row group: `bins` counts of each row, one row after another. */
export interface Histograms {
  bins: number;
  counts: Float64Array<ArrayBuffer>;
}

type Head = NonNullable<ReturnType<typeof parquetHeader>['data_page_header_v2']>;

/**
 * Reads the column `histogram` of row groups as `HistogramList` writes it: lists of equal length, without nulls. It
 * decodes all counts into one array. The general reader first makes an array per row: with it, reading all columns
 * takes twice the processor time (measured with 59 bins).
 */
export class HistogramPages {
  /** Repetition and definition levels that belong to `rows` lists of `bins` counts, as was found before. */
  #known: { rows: number; bins: number; levels: Uint8Array } | undefined;

  /** Whether a file has lists that are read here: neither `histogram` nor its elements may be null. */
  static areOf(schema: readonly SchemaElement[]): boolean {
    const at = schema.findIndex(({ name }) => name === 'histogram');
    const repetitions = schema.slice(at, at + 3).map((element) => element.repetition_type);
    return at >= 0 && repetitions.join() === 'REQUIRED,REPEATED,REQUIRED';
  }

  /**
   * The histograms of a row group, from the bytes of its column; undefined if it was written differently, or lists
   * differ in length.
   */
  read(bytes: ArrayBuffer, column: ColumnMetaData, rows: number): Histograms | undefined {
    const reader = { view: new DataView(bytes), offset: 0 };
    const bins = Number(column.num_values) / rows;
    if (!Number.isInteger(bins) || bins === 0) return undefined;
    const counts = new Float64Array(rows * bins);
    let done = 0;
    while (reader.offset < bytes.byteLength) {
      const { data_page_header_v2: head, ...sizes } = parquetHeader(reader);
      if (!head || head.num_values !== head.num_rows * bins || head.num_nulls > 0) return undefined;
      if (head.num_rows > rows - done) return undefined;
      const page = new Uint8Array(bytes, reader.offset, sizes.compressed_page_size);
      reader.offset += sizes.compressed_page_size;
      const levelBytes = head.repetition_levels_byte_length + head.definition_levels_byte_length;
      if (!this.#areLists(page.subarray(0, levelBytes), head, bins)) return undefined;
      const packed = page.subarray(levelBytes);
      const data = head.is_compressed
        ? decompressPage(packed, sizes.uncompressed_page_size - levelBytes, column.codec, undefined)
        : packed;
      const target = counts.subarray(done * bins, (done + head.num_rows) * bins);
      if (!decode(data, head, column, target)) return undefined;
      done += head.num_rows;
    }
    return done === rows ? { bins, counts } : undefined;
  }

  /** Whether levels say that every row has `bins` counts. Most pages have equal levels, which are known then. */
  #areLists(levels: Uint8Array, head: Head, bins: number): boolean {
    const { num_rows: rows, repetition_levels_byte_length: repetitionBytes } = head;
    const known = this.#known;
    if (known?.rows === rows && known.bins === bins && Buffer.compare(known.levels, levels) === 0) return true;
    const levelsIn = (from: number, to: number): Uint8Array => {
      const view = new DataView(levels.buffer, levels.byteOffset + from, to - from);
      const decoded = new Uint8Array(rows * bins);
      readRleBitPackedHybrid({ view, offset: 0 }, 1, decoded, to - from);
      return decoded;
    };
    const begins = levelsIn(0, repetitionBytes);
    const present = levelsIn(repetitionBytes, levels.length);
    for (let i = 0; i < begins.length; i++) {
      if (begins[i] !== (i % bins === 0 ? 0 : 1) || present[i] !== 1) return false;
    }
    this.#known = { rows, bins, levels: levels.slice() };
    return true;
  }
}

/** Decodes the counts of a page; false for an encoding that is not read here. */
function decode(data: Uint8Array, { encoding }: Head, { type }: ColumnMetaData, target: Float64Array): boolean {
  const count = target.length;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (encoding === 'DELTA_BINARY_PACKED') {
    const counts = type === 'INT32' ? new Int32Array(count) : new BigInt64Array(count);
    deltaBinaryUnpack({ view, offset: 0 }, count, counts);
    if (counts instanceof Int32Array) target.set(counts);
    else for (let i = 0; i < count; i++) target[i] = Number(counts[i]);
    return true;
  }
  if (encoding !== 'PLAIN' || type !== 'INT64') return false;
  for (let i = 0; i < count; i++) target[i] = Number(view.getBigInt64(8 * i, true));
  return true;
}
