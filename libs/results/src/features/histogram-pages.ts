import type { ColumnMetaData, SchemaElement } from 'hyparquet';
import { parquetHeader } from 'hyparquet/src/column.js';
import { decompressPage } from 'hyparquet/src/datapage.js';
import { deltaBinaryUnpack } from 'hyparquet/src/delta.js';
import { readRleBitPackedHybrid } from 'hyparquet/src/encoding.js';

/**
 * Reads the column `histogram` of row groups as HistogramColumn writes it: one page, lists of the same length, none of them null. Its
 * counts are decoded into one array. The general reader would make an array a row first, which takes four times as long (measured with
 * 59 bins).
 */
export class HistogramPages {
  /** Counts of a row. */
  readonly bins: number;
  /** Repetition and definition levels that were found to be those of so many lists of `bins` counts. */
  #known: { rows: number; levels: Uint8Array } | undefined;

  constructor(bins: number) {
    this.bins = bins;
  }

  /** Whether a file has the lists that are read here: `histogram` is never null, nor is an element of it. */
  static areOf(schema: readonly SchemaElement[]): boolean {
    const at = schema.findIndex(({ name }) => name === 'histogram');
    const repetitions = schema.slice(at, at + 3).map((element) => element.repetition_type);
    return at >= 0 && repetitions.join() === 'REQUIRED,REPEATED,REQUIRED';
  }

  /**
   * The counts of a row group, a row after another, from the bytes of its column. Undefined where it was written in another way, or
   * a row has another number of counts.
   */
  read(bytes: ArrayBuffer, { codec, type }: ColumnMetaData, rows: number): Float64Array<ArrayBuffer> | undefined {
    const reader = { view: new DataView(bytes), offset: 0 };
    const { data_page_header_v2: header, ...sizes } = parquetHeader(reader);
    const values = rows * this.bins;
    if (header?.encoding !== 'DELTA_BINARY_PACKED' || header.num_values !== values || header.num_nulls > 0)
      return undefined;
    const ends = [header.repetition_levels_byte_length, header.definition_levels_byte_length];
    const page = new Uint8Array(bytes, reader.offset, sizes.compressed_page_size);
    const levelBytes = ends[0]! + ends[1]!;
    if (!this.#areLists(page.subarray(0, levelBytes), ends[0]!, rows)) return undefined;
    const packed = page.subarray(levelBytes);
    const unpacked = header.is_compressed
      ? decompressPage(packed, sizes.uncompressed_page_size - levelBytes, codec, undefined)
      : packed;
    const counts = type === 'INT32' ? new Int32Array(values) : new BigInt64Array(values);
    const view = new DataView(unpacked.buffer, unpacked.byteOffset, unpacked.byteLength);
    deltaBinaryUnpack({ view, offset: 0 }, values, counts);
    return counts instanceof Int32Array ? new Float64Array(counts) : Float64Array.from(counts, Number);
  }

  /** Whether levels say that every row has `bins` counts. Row groups have equal levels but for the last, so that they are mostly known. */
  #areLists(levels: Uint8Array, repetitionBytes: number, rows: number): boolean {
    if (this.#known?.rows === rows && Buffer.compare(this.#known.levels, levels) === 0) return true;
    const decode = (from: number, to: number): Uint8Array => {
      const view = new DataView(levels.buffer, levels.byteOffset + from, to - from);
      const decoded = new Uint8Array(rows * this.bins);
      readRleBitPackedHybrid({ view, offset: 0 }, 1, decoded, to - from);
      return decoded;
    };
    const begins = decode(0, repetitionBytes);
    const present = decode(repetitionBytes, levels.length);
    for (let i = 0; i < begins.length; i++) {
      if (begins[i] !== (i % this.bins === 0 ? 0 : 1) || present[i] !== 1) return false;
    }
    this.#known = { rows, levels: levels.slice() };
    return true;
  }
}
