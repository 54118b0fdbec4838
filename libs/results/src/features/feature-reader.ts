import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, parquetRead, parquetReadObjects } from 'hyparquet';
import { lastUpTo } from '../layout/last-up-to.ts';
import { placeAt } from '../places/place-at.ts';
import { asyncBufferAt } from './async-buffer.ts';
import { HistogramPages, type Histograms } from './histogram-pages.ts';
import { type TextColumn, textColumn } from './text-column.ts';

/** An open file and its footer. */
interface OpenFile {
  buffer: AsyncBuffer;
  metadata: FileMetaData;
}

/** The histograms of a row group, from row `start` up to row `end`, which is left out. */
interface DecodedGroup {
  start: number;
  end: number;
  histograms: Histograms;
}

const flatColumns = ['source', 'frame', 'timestamp_ms', 'captured_at', 'camera', 'cell_row', 'cell_col', 'counted'];

/** Consecutive rows of a features.parquet. Unknown times are NaN, and unknown cameras null. */
export interface FeatureColumns {
  source: TextColumn<string>;
  frame: Int32Array<ArrayBuffer>;
  timestampMs: Float64Array<ArrayBuffer>;
  /** Milliseconds since 1970 in UTC. */
  capturedAtMs: Float64Array<ArrayBuffer>;
  camera: TextColumn<string | null>;
  cellRow: Int32Array<ArrayBuffer>;
  cellColumn: Int32Array<ArrayBuffer>;
  /** Pixels that each histogram counts. */
  counted: Float64Array<ArrayBuffer>;
  /** The counts of all rows, one row after another. */
  histogram: Float64Array<ArrayBuffer>;
}

/**
 * Reads a features.parquet, a file or a folder of files: histograms by the number of their row, and columns by row
 * group. It decodes a whole row group and keeps it, so ask for rows more or less in order.
 */
export class FeatureReader {
  /** The files, in the order of their rows: paths or s3: URIs. */
  readonly #paths: readonly string[];
  /** The file that was used last. The footers of all files would take much memory. */
  #last: { file: number; opened: Promise<OpenFile> };
  readonly #schema: FileMetaData['schema'];
  /** The first row of each row group, then the number of all rows. */
  readonly #starts: readonly number[];
  /** The first row group of each file, then the number of all row groups. */
  readonly #groups: readonly number[];
  /** The row group whose histograms were decoded last for single rows. */
  #decoded: DecodedGroup | undefined;
  readonly #pages = new HistogramPages();

  /**
   * Opens the file or folder at a path or s3: URI; undefined if it is missing. Rejects if it is not a Parquet file or
   * is a folder without Parquet files, and with PlaceError if a bucket cannot be read.
   */
  static async open(path: string): Promise<FeatureReader | undefined> {
    const paths = await partsOf(path);
    if (!paths) return undefined;
    const [starts, groups] = [[0], [0]];
    let last: OpenFile | undefined;
    let schema: FileMetaData['schema'] = [];
    for (const [file, each] of paths.entries()) {
      last = await openFile(each);
      if (file === 0) schema = last.metadata.schema;
      for (const { num_rows } of last.metadata.row_groups) starts.push(starts.at(-1)! + Number(num_rows));
      groups.push(starts.length - 1);
    }
    if (!last) throw new Error(`'${path}' has no files that end with .parquet`);
    return new FeatureReader(paths, { file: paths.length - 1, opened: Promise.resolve(last) }, schema, starts, groups);
  }

  private constructor(
    paths: readonly string[],
    last: { file: number; opened: Promise<OpenFile> },
    schema: FileMetaData['schema'],
    starts: readonly number[],
    groups: readonly number[],
  ) {
    this.#paths = paths;
    this.#last = last;
    this.#schema = schema;
    this.#starts = starts;
    this.#groups = groups;
  }

  get rows(): number {
    return this.#starts.at(-1)!;
  }

  get rowGroups(): number {
    return this.#starts.length - 1;
  }

  /**
   * The columns that every version of halogrid writes and this file does not have: another program may have written it.
   */
  get missingColumns(): string[] {
    const there = new Set(this.#schema.map(({ name }) => name));
    return everyFile.filter((name) => !there.has(name));
  }

  /** The counts of a row, exact below 2^53. Rejects if there is no such row or it cannot be decoded. */
  async histogram(row: number): Promise<Float64Array> {
    const { start, histograms } = await this.#groupOf(row);
    const { bins, counts } = histograms;
    return counts.slice((row - start) * bins, (row - start + 1) * bins);
  }

  /**
   * Puts the counts of `rows` rows from `first` on into `target`, which has room for exactly these. Rejects as
   * `histogram` does, and if rows have another number of bins.
   */
  async counts(first: number, rows: number, target: Float64Array | Uint32Array): Promise<void> {
    const bins = target.length / rows;
    for (let row = first; row < first + rows; ) {
      const { start, end, histograms } = await this.#groupOf(row);
      if (histograms.bins !== bins) throw new Error(`Row ${row} has ${histograms.bins} bins instead of ${bins}`);
      const next = Math.min(end, first + rows);
      target.set(histograms.counts.subarray((row - start) * bins, (next - start) * bins), (row - first) * bins);
      row = next;
    }
  }

  async #groupOf(row: number): Promise<DecodedGroup> {
    if (this.#decoded && row >= this.#decoded.start && row < this.#decoded.end) return this.#decoded;
    if (!(row >= 0 && row < this.rows)) throw new Error(`There is no row ${row}`);
    const rowGroup = lastUpTo(this.#starts, row);
    const [start, end] = [this.#starts[rowGroup]!, this.#starts[rowGroup + 1]!];
    this.#decoded = { start, end, histograms: await this.#histograms(rowGroup) };
    return this.#decoded;
  }

  /** All columns of a row group. Rejects if it cannot be decoded, or its histograms do not have `bins` counts. */
  async columns(rowGroup: number, bins: number): Promise<FeatureColumns> {
    const [flat, histograms] = await Promise.all([this.#flatColumns(rowGroup), this.#histograms(rowGroup)]);
    if (histograms.bins !== bins) {
      throw new Error(`Row ${this.#starts[rowGroup]} has ${histograms.bins} bins instead of ${bins}`);
    }
    return {
      source: textColumn(flat('source') as string[]),
      frame: Int32Array.from(flat('frame'), numberOf),
      timestampMs: Float64Array.from(flat('timestamp_ms'), numberOf),
      capturedAtMs: Float64Array.from(flat('captured_at'), numberOf),
      camera: textColumn(flat('camera') as (string | null)[]),
      cellRow: Int32Array.from(flat('cell_row'), numberOf),
      cellColumn: Int32Array.from(flat('cell_col'), numberOf),
      counted: Float64Array.from(flat('counted'), numberOf),
      histogram: histograms.counts,
    };
  }

  /** The columns of a row group that have one value per row, by name. A column that the file lacks is all null. */
  async #flatColumns(rowGroup: number): Promise<(name: string) => unknown[]> {
    const { buffer: file, metadata } = await this.#alone(rowGroup);
    const rows = Number(metadata.row_groups[0]!.num_rows);
    const columns = metadata.schema.map(({ name }) => name).filter((name) => flatColumns.includes(name));
    const read = new Map(columns.map((name) => [name, Array<unknown>(rows).fill(null)]));
    await parquetRead({
      file,
      metadata,
      columns,
      onChunk: ({ columnName, columnData, rowStart }) => {
        const column = read.get(columnName)!;
        for (let i = 0; i < columnData.length; i++) column[rowStart + i] = columnData[i];
      },
    });
    return (name) => read.get(name) ?? Array(rows).fill(null);
  }

  async #histograms(rowGroup: number): Promise<Histograms> {
    const first = this.#starts[rowGroup]!;
    const rows = this.#starts[rowGroup + 1]! - first;
    const { buffer: file, metadata } = await this.#alone(rowGroup);
    const [{ columns }] = metadata.row_groups as [FileMetaData['row_groups'][number]];
    const column = columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === 'histogram')?.meta_data;
    if (column && HistogramPages.areOf(metadata.schema)) {
      const start = Number(column.data_page_offset);
      const bytes = await file.slice(start, start + Number(column.total_compressed_size));
      const histograms = this.#pages.read(bytes, column, rows);
      if (histograms) return histograms;
    }
    const lists: ArrayLike<number | bigint>[] = (
      await parquetReadObjects({ file, metadata, columns: ['histogram'] })
    ).map(({ histogram }) => histogram);
    const bins = lists[0]!.length;
    const counts = new Float64Array(rows * bins);
    for (const [i, list] of lists.entries()) {
      if (list.length !== bins) throw new Error(`Row ${first + i} has ${list.length} bins instead of ${bins}`);
      for (let bin = 0; bin < bins; bin++) counts[i * bins + bin] = Number(list[bin]);
    }
    return { bins, counts };
  }

  /** The file of a row group, as if it had no other row group: hyparquet goes through all of them for each read. */
  async #alone(rowGroup: number): Promise<OpenFile> {
    const file = lastUpTo(this.#groups, rowGroup);
    if (this.#last.file !== file) this.#last = { file, opened: openFile(this.#paths[file]!) };
    const { buffer, metadata } = await this.#last.opened;
    return { buffer, metadata: { ...metadata, row_groups: [metadata.row_groups[rowGroup - this.#groups[file]!]!] } };
  }
}

async function openFile(path: string): Promise<OpenFile> {
  const buffer = await asyncBufferAt(path);
  return { buffer, metadata: await parquetMetadataAsync(buffer) };
}

/**
 * The file, or the files of the folder by name, which is also the order of their rows; undefined if neither is there.
 * Links are passed over: they may lead out of the folders that may be read.
 */
async function partsOf(path: string): Promise<string[] | undefined> {
  const place = placeAt(path);
  if (await place.file()) return [path];
  const files = (await place.entries())?.filter(({ isFolder }) => !isFolder);
  const names = files?.map(({ name }) => name).filter((name) => name.endsWith('.parquet'));
  return names?.sort().map((name) => place.in(name).at);
}

/** The columns that every version writes. Older files may lack other columns, which are then unknown for all rows. */
const everyFile = ['source', 'frame', 'timestamp_ms', 'cell_row', 'cell_col', 'counted', 'histogram'];

/** A value of a column as a number; NaN if it is missing. */
function numberOf(value: unknown): number {
  if (value instanceof Date) return value.getTime();
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : Number.NaN;
}
