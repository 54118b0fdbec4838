import type { ColumnChunk } from 'hyparquet';
import type { ParquetWriter, SchemaElement } from 'hyparquet-writer';
import { writeColumn } from 'hyparquet-writer/src/column.js';

const maxInt32 = 2 ** 31 - 1;

/**
 * The column `histogram` of a Parquet file, a list of `bins` counts in every row: packed as differences of neighbours in as
 * few bits as they need, then compressed with Snappy. It is int32, or int64 where any count of the file needs that.
 *
 * The counts of a row group lie end to end in one array, as the encoder of a column takes them. ParquetWriter would be given
 * an array a row, and take them apart. Measured with 256 bins: that made a row three times as expensive.
 */
export class HistogramColumn {
  /** The part of the file's schema; valid once `finish` was called. */
  readonly schema: readonly SchemaElement[];
  readonly #bins: number;
  readonly #element: SchemaElement = { name: 'element', type: 'INT32', repetition_type: 'REQUIRED' };
  /** Counts of a full row group. */
  readonly #counts: Float64Array;
  /** Repetition levels of a full row group: 0 where a list begins, 1 where it goes on. */
  readonly #repetitionLevels: Uint8Array;
  /** Definition levels of a full row group: 1, because no list is empty. */
  readonly #definitionLevels: Uint8Array;
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
    this.#definitionLevels = new Uint8Array(this.#counts.length).fill(1);
    this.#repetitionLevels = this.#definitionLevels.slice();
    for (let i = 0; i < this.#counts.length; i += bins) this.#repetitionLevels[i] = 0;
  }

  /** Adds the `bins` counts of the next row, integers from 0 to 2^53 - 1. */
  add(counts: ArrayLike<number>): void {
    let largest = this.#largestOfGroup;
    for (let i = 0; i < this.#bins; i++) {
      const count = counts[i]!;
      if (count > largest) largest = count;
      this.#counts[this.#used++] = count;
    }
    this.#largestOfGroup = largest;
  }

  /** Puts the rows that were added into the row group that `parquet` wrote last, as its next column. */
  writeInto(parquet: ParquetWriter): void {
    const [root] = parquet.schema;
    this.#element.type = this.#largestOfGroup > maxInt32 ? 'INT64' : 'INT32';
    const { writer, compressors } = parquet;
    const start = writer.offset;
    const written = writeColumn({
      writer,
      column: {
        columnName: 'histogram.list.element',
        element: this.#element,
        schemaPath: [root!, ...this.schema],
        codec: 'SNAPPY',
        compressors,
        encoding: 'DELTA_BINARY_PACKED',
        // One page for the row group.
        pageSize: 0,
        stats: false,
        columnIndex: false,
        offsetIndex: false,
      },
      pageData: {
        values: this.#counts.subarray(0, this.#used),
        definitionLevels: levels(this.#definitionLevels, this.#used),
        repetitionLevels: levels(this.#repetitionLevels, this.#used),
        maxDefinitionLevel: 1,
      },
    });
    parquet.pendingIndexes.push(written);
    this.#chunks.push(written.chunk);
    const group = parquet.row_groups.at(-1)!;
    group.columns.push(written.chunk);
    group.total_byte_size += written.chunk.meta_data!.total_uncompressed_size;
    group.total_compressed_size = (group.total_compressed_size ?? 0n) + BigInt(writer.offset - start);
    this.#largest = Math.max(this.#largest, this.#largestOfGroup);
    this.#largestOfGroup = 0;
    this.#used = 0;
  }

  /**
   * Settles the type, which is that of all row groups. Groups with small counts only were written as int32, and are int64
   * just as well: in this encoding differences of counts below 2^31 are the same bits in both.
   */
  finish(): void {
    const type = this.#largest > maxInt32 ? 'INT64' : 'INT32';
    this.#element.type = type;
    for (const { meta_data } of this.#chunks) meta_data!.type = type;
  }
}

/** writeColumn asks for numbers in an array and only counts, slices and indexes them, which bytes allow in an eighth of the memory. */
const levels = (bytes: Uint8Array, count: number): number[] => bytes.subarray(0, count) as unknown as number[];
