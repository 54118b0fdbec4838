import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';
import { AtomicFile } from '../files/atomic-file.ts';
import { writeColumnPage } from './column-page.ts';
import { HistogramColumn } from './histogram-column.ts';
import { countsPage, optionalPage } from './number-columns.ts';
import { type FileFacts, RowGroupList } from './row-group-list.ts';
import { type TextBytes, TextPages } from './text-pages.ts';

export type { TextBytes } from './text-pages.ts';

/** The histogram of one grid cell of one image or frame. */
export interface FeatureRow {
  /** URI of the source. */
  source: string;
  /** That of its files, without extensions: `preview/NAME.png`, `maps/NAME.tif`. */
  name: string;
  /** Index of the frame in its source; 0 for an image. */
  frame: number;
  /** When the frame was taken, from the start of its source; null for images and frames without a time. */
  timestampMs: number | null;
  /** When it was captured, in milliseconds since 1970 in UTC; null where nobody knows. */
  capturedAtMs: number | null;
  /** The camera that captured it; null where nobody knows. */
  camera: string | null;
  cellRow: number;
  cellColumn: number;
  /** Pixels that the histogram counts. */
  counted: number;
  /** Counts of the bins, channels one after another. */
  histogram: ArrayLike<number>;
}

/** All that is known of a row but its counts; its texts may be UTF-8, which is not made a string then. */
export type FeatureFacts = Omit<FeatureRow, 'source' | 'name' | 'counted' | 'histogram'> & {
  source: string | TextBytes;
  name: string | TextBytes;
};

const maxInt32 = 2 ** 31 - 1;

/** The end of the file, as its beginning. */
const magic = Buffer.from('PAR1');

/**
 * Values of a row group: a mebibyte in int32. Measured with 256 bins a row, 963 rows: encoding one takes 4 ms. Groups four
 * times as large are no faster, and the process needs 80 MB more.
 */
const groupValues = 2 ** 18;

/** What the other columns of a row count for in `groupValues`, so that rows with few bins do not make huge groups. */
const rowValues = 16;

/**
 * Writes features.parquet row by row; memory is one row group, whatever the number of rows. Equal rows give equal bytes.
 * Columns: source and name (strings), frame (int32), timestamp_ms (double, nullable),
 * captured_at (timestamp in UTC, milliseconds, nullable), camera (string, nullable), cell_row and cell_col (int32), counted (int64),
 * histogram (list of int32, or of int64 where one of its counts needs that). Each column of a row group is a page, with its
 * least and largest value in the footer. Measured with 256 bins: 4 µs a row, and 2 bytes a bin.
 */
export class FeatureWriter {
  readonly #file: AtomicFile;
  readonly #bytes = new ByteWriter();
  readonly #parquet: ParquetWriter;
  readonly #groups = new RowGroupList();
  readonly #bins: number;
  readonly #groupRows: number;
  readonly #histogram: HistogramColumn;
  readonly #source = new TextPages(['source'], false);
  readonly #name = new TextPages(['name'], false);
  readonly #camera = new TextPages(['camera'], true);
  /** Values of a full row group. */
  readonly #numbers: Record<(typeof numberColumns)[number], Float64Array>;
  #rows = 0;

  /** The folder of `path` must exist. Every row has `bins` counts, 1 or more. */
  static async create(path: string, bins: number): Promise<FeatureWriter> {
    return new FeatureWriter(await AtomicFile.create(path), bins);
  }

  private constructor(file: AtomicFile, bins: number) {
    this.#file = file;
    this.#bins = bins;
    this.#groupRows = Math.max(1, Math.floor(groupValues / (bins + rowValues)));
    this.#histogram = new HistogramColumn(bins, this.#groupRows);
    const column = () => new Float64Array(this.#groupRows);
    this.#numbers = {
      ...{ frame: column(), timestampMs: column(), capturedAtMs: column() },
      ...{ cellRow: column(), cellColumn: column(), counted: column() },
    };
    const schema = [...rowSchema, ...this.#histogram.schema];
    this.#parquet = new ParquetWriter({ writer: this.#bytes, schema, createdBy: 'halogrid' });
  }

  /**
   * Adds a row, which may be reused afterwards. What it returns is to be waited for before the next is added; undefined where there
   * is nothing to wait for. Throws one sentence where a number does not fit into its column.
   */
  add(row: FeatureRow): Promise<void> | undefined {
    const { histogram } = row;
    check('frame', row, row.frame, maxInt32);
    check('cell_row', row, row.cellRow, maxInt32);
    check('cell_col', row, row.cellColumn, maxInt32);
    check('counted', row, row.counted, Number.MAX_SAFE_INTEGER);
    if (histogram.length !== this.#bins) {
      throw new Error(`Expected ${this.#bins} bins for histogram of '${row.source}' but received ${histogram.length}`);
    }
    const wrong = this.#histogram.add(histogram);
    if (wrong >= 0) check('histogram', row, histogram[wrong]!, Number.MAX_SAFE_INTEGER);
    this.#addFacts(row, row.counted);
    return this.isFull ? this.writeGroup() : undefined;
  }

  /** Takes the varints that `addPacked` reads next: counts of rows, below 2^53 each. */
  load(bytes: Uint8Array): void {
    this.#histogram.load(bytes);
  }

  /**
   * Adds a row whose counts are varints that begin at byte `at` of those; the first `channelBins` of them say how many pixels it counts.
   * Returns where they end. To be called while the row group is not full; nothing is checked again of what a ledger has kept. Throws
   * RangeError where the bytes end before.
   */
  addPacked(row: FeatureFacts, at: number, channelBins: number): number {
    const end = this.#histogram.addPacked(at);
    this.#addFacts(row, this.#histogram.sumOfLast(channelBins));
    return end;
  }

  /** Whether the row group is to be written before the next row. */
  get isFull(): boolean {
    return this.#rows === this.#groupRows;
  }

  #addFacts(row: FeatureFacts, counted: number): void {
    this.#source.add(row.source);
    this.#name.add(row.name);
    this.#camera.add(row.camera);
    const numbers = this.#numbers;
    const at = this.#rows++;
    numbers.frame[at] = row.frame;
    numbers.timestampMs[at] = row.timestampMs ?? Number.NaN;
    numbers.capturedAtMs[at] = row.capturedAtMs ?? Number.NaN;
    numbers.cellRow[at] = row.cellRow;
    numbers.cellColumn[at] = row.cellColumn;
    numbers.counted[at] = counted;
  }

  /**
   * Ends the file with what it says of itself, key by key, makes it durable and gives it its name. Leaves nothing where that
   * fails.
   */
  async finish(about: Readonly<Record<string, string>> = {}): Promise<void> {
    try {
      if (this.#rows > 0) await this.writeGroup();
      if (this.#histogram.finish() === 'INT64') this.#groups.widenLast();
      const key_value_metadata = Object.entries(about).map(([key, value]) => ({ key, value }));
      this.#groups.write(this.#bytes, { ...this.#facts, key_value_metadata });
      this.#bytes.appendBytes(magic);
      await this.#flush();
    } catch (error) {
      await this.#file.abort();
      throw error;
    }
    await this.#file.commit();
  }

  /** Removes what was written, also after a failure. */
  async abort(): Promise<void> {
    await this.#file.abort();
  }

  /** Writes the rows that were added as a row group. */
  async writeGroup(): Promise<void> {
    const parquet = this.#parquet;
    const rows = this.#rows;
    this.#rows = 0;
    const start = this.#bytes.offset;
    const of = (name: (typeof numberColumns)[number]) => this.#numbers[name].subarray(0, rows);
    const pages = [
      this.#source.take(),
      this.#name.take(),
      countsPage(['frame'], 'INT32', of('frame')),
      optionalPage(['timestamp_ms'], 'DOUBLE', of('timestampMs')),
      optionalPage(['captured_at'], 'INT64', of('capturedAtMs')),
      this.#camera.take(),
      countsPage(['cell_row'], 'INT32', of('cellRow')),
      countsPage(['cell_col'], 'INT32', of('cellColumn')),
      countsPage(['counted'], 'INT64', of('counted')),
    ];
    const columns = [...pages.map((page) => writeColumnPage(parquet, page)), this.#histogram.write(parquet)];
    const total_byte_size = columns.reduce((sum, { meta_data }) => sum + meta_data!.total_uncompressed_size, 0n);
    const total_compressed_size = BigInt(this.#bytes.offset - start);
    const group = { columns, total_byte_size, total_compressed_size, num_rows: BigInt(rows) };
    this.#groups.add(group, this.#facts);
    parquet.num_rows += BigInt(rows);
    await this.#flush();
  }

  get #facts(): FileFacts {
    const { num_rows, schema, createdBy } = this.#parquet;
    return { version: 2, created_by: createdBy, schema, num_rows };
  }

  /** The writer's `offset`, which goes into the file, counts on; its buffer starts again. */
  async #flush(): Promise<void> {
    await this.#file.handle.writeFile(this.#bytes.getBytes());
    this.#bytes.index = 0;
  }
}

/** A row has a number in each of these. */
const numberColumns = ['frame', 'timestampMs', 'capturedAtMs', 'cellRow', 'cellColumn', 'counted'] as const;

/** The columns but the histogram, in the order in which `writeGroup` writes them. */
const factColumns: readonly SchemaElement[] = [
  { name: 'source', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
  { name: 'name', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
  { name: 'frame', type: 'INT32', repetition_type: 'REQUIRED' },
  { name: 'timestamp_ms', type: 'DOUBLE', repetition_type: 'OPTIONAL' },
  {
    name: 'captured_at',
    type: 'INT64',
    // Readers of before the logical types know the other one.
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
    repetition_type: 'OPTIONAL',
  },
  { name: 'camera', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
  { name: 'cell_row', type: 'INT32', repetition_type: 'REQUIRED' },
  { name: 'cell_col', type: 'INT32', repetition_type: 'REQUIRED' },
  { name: 'counted', type: 'INT64', repetition_type: 'REQUIRED' },
];

const rowSchema: readonly SchemaElement[] = [{ name: 'schema', num_children: factColumns.length + 1 }, ...factColumns];

function check(column: string, { source }: FeatureRow, value: number, largest: number): void {
  if (Number.isInteger(value) && value >= 0 && value <= largest) return;
  throw new Error(`Expected integers from 0 to ${largest} for ${column} of '${source}' but received ${value}`);
}
