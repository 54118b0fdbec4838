import { encodePage } from './encode-page.ts';
import { FeatureFiles } from './feature-files.ts';
import { HistogramList } from './histogram-list.ts';
import { type FileLimits, type PageLayout, pageLayout } from './page-layout.ts';
import type { FooterFacts } from './parquet-file.ts';
import { TextList } from './text-list.ts';

export type { FileLimits } from './page-layout.ts';

/** What is known of an image or frame but its histograms. */
export interface FeatureSource {
  /** Its number in the job, from 0; quarantined sources have one as well. */
  number: number;
  /** URI. */
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
}

/** The histogram of a grid cell. */
export interface FeatureCell {
  /** Pixels that it counts. */
  counted: number;
  /** Counts of the bins, channels one after another. */
  histogram: ArrayLike<number>;
}

/** What rows have in common. */
export interface FeatureShape {
  /** The cells of each image. */
  grid: { rows: number; columns: number };
  /** Counts of a row, 1 or more. */
  bins: number;
}

const maxInt32 = 2 ** 31 - 1;

/**
 * Writes features.parquet source by source, in the order of their numbers; a row a cell. Memory is a row group, whatever the number of rows.
 * Equal rows give equal bytes, whatever sources are left out: pages and row groups are ranges of numbers.
 * Columns: source and name (strings), frame (int32), timestamp_ms (double, nullable),
 * captured_at (timestamp in UTC, milliseconds, nullable), camera (string, nullable), cell_row and cell_col (int32), counted (int64),
 * histogram (list of int32, or of int64 where one of the job's counts needs that). The footer has the least and the largest value of
 * each column and row group.
 */
export class FeatureWriter {
  readonly #layout: PageLayout;
  readonly #gridColumns: number;
  readonly #files: FeatureFiles;
  /** Of the page: a value a source. */
  readonly #texts = { source: new TextList(), name: new TextList(), camera: new TextList() };
  readonly #numbers: Record<'frame' | 'timestampMs' | 'capturedAtMs', Float64Array>;
  /** Of the page: a value a row. */
  readonly #histograms: HistogramList;
  readonly #counted: Float64Array;
  #rows = 0;
  /** The source that was begun last, and how many of its cells are there. */
  #source: FeatureSource | undefined;
  #cells = 0;
  /** Where the page begins. */
  #firstSource = 0;
  #firstCell = 0;

  /** The folder of `path` must exist. */
  static async create(path: string, { grid, bins }: FeatureShape, limits?: FileLimits): Promise<FeatureWriter> {
    const layout = pageLayout(grid.rows * grid.columns, bins, limits);
    return new FeatureWriter(layout, grid.columns, await FeatureFiles.create(path, layout));
  }

  private constructor(layout: PageLayout, gridColumns: number, files: FeatureFiles) {
    const { bins, pageSources, pageCells } = layout;
    this.#layout = layout;
    this.#gridColumns = gridColumns;
    this.#files = files;
    const column = (size: number) => new Float64Array(size);
    this.#numbers = { frame: column(pageSources), timestampMs: column(pageSources), capturedAtMs: column(pageSources) };
    this.#counted = column(pageSources * pageCells);
    this.#histograms = new HistogramList(bins, pageSources * pageCells);
  }

  /** Adds a source with all its cells. Rejects with one sentence where a number does not fit into its column. */
  async add(source: FeatureSource, cells: readonly FeatureCell[]): Promise<void> {
    check('frame', source, source.frame, maxInt32);
    if (cells.length !== this.#layout.cells) {
      throw new Error(`Expected ${this.#layout.cells} cells of '${source.source}' but received ${cells.length}`);
    }
    for (const { counted, histogram } of cells) {
      check('counted', source, counted, Number.MAX_SAFE_INTEGER);
      if (histogram.length !== this.#layout.bins) {
        const expected = `Expected ${this.#layout.bins} bins for histogram of '${source.source}'`;
        throw new Error(`${expected} but received ${histogram.length}`);
      }
      for (let bin = 0; bin < histogram.length; bin++) {
        check('histogram', source, histogram[bin]!, Number.MAX_SAFE_INTEGER);
      }
    }
    await this.begin(source);
    for (const { counted, histogram } of cells) {
      this.#histograms.add(histogram);
      this.#addCell(counted);
      if (this.isFull) await this.writePage();
    }
  }

  /**
   * Begins a source, whose cells are added by `addPacked`, and which is told of the row group before it is used again. What it returns is to
   * be waited for before they are; undefined where there is nothing to wait for.
   */
  begin(source: FeatureSource): Promise<void> | undefined {
    const { pageSources } = this.#layout;
    const isOfNext = Math.floor(source.number / pageSources) !== Math.floor(this.#firstSource / pageSources);
    if (this.#rows > 0 && isOfNext) return this.writePage().then(() => this.#begin(source));
    this.#begin(source);
    return undefined;
  }

  /** Takes the varints that `addPacked` reads next: counts of rows, below 2^53 each. */
  load(bytes: Uint8Array): void {
    this.#histograms.load(bytes);
  }

  /**
   * Adds the next cell of the source that was begun, whose counts are varints that begin at byte `at` of those; the first `channelBins` of
   * them say how many pixels it counts. Returns where they end. To be called while no page is full; nothing is checked again of what a
   * ledger has kept. Throws RangeError where the bytes end before.
   */
  addPacked(at: number, channelBins: number): number {
    const end = this.#histograms.addPacked(at);
    this.#addCell(this.#histograms.sumOfLast(channelBins));
    return end;
  }

  /** Whether a page is to be written before the next cell or source. */
  get isFull(): boolean {
    const { cells, pageSources, pageCells } = this.#layout;
    if (this.#cells < cells) return this.#cells - this.#firstCell === pageCells;
    return this.#rows > 0 && this.#source!.number % pageSources === pageSources - 1;
  }

  /** Writes the rows that were added as a page. */
  async writePage(): Promise<void> {
    const rows = this.#rows;
    const { source, name, camera } = this.#texts;
    const of = (column: Float64Array) => column.subarray(0, source.length);
    const { frame, timestampMs, capturedAtMs } = this.#numbers;
    const page = encodePage({
      ...{ source, name, camera, gridColumns: this.#gridColumns, firstCell: this.#firstCell },
      ...{ frame: of(frame), timestampMs: of(timestampMs), capturedAtMs: of(capturedAtMs) },
      ...{ counted: this.#counted.subarray(0, rows), histograms: this.#histograms },
    });
    const place = { firstSource: this.#firstSource, firstCell: this.#firstCell };
    for (const list of [source, name, camera, this.#histograms]) list.clear();
    this.#rows = 0;
    if (this.#cells < this.#layout.cells) this.#beginPage(this.#source!, this.#cells);
    await this.#files.append({ ...page, ...place });
  }

  /**
   * Ends the file with what it says of itself, key by key, makes it durable and gives it its name; the job has so many sources, quarantined
   * ones too. Leaves nothing where that fails.
   */
  async finish(sources: number, about: FooterFacts['about'] = {}): Promise<void> {
    try {
      if (this.#rows > 0) await this.writePage();
      await this.#files.finish(sources, about);
    } catch (error) {
      await this.abort();
      throw error;
    }
  }

  /** Removes what was written, also after a failure. */
  async abort(): Promise<void> {
    await this.#files.abort();
  }

  #begin(source: FeatureSource): void {
    this.#source = source;
    this.#cells = 0;
    if (this.#rows === 0) this.#beginPage(source, 0);
    else this.#addFacts(source);
  }

  #beginPage(source: FeatureSource, firstCell: number): void {
    this.#firstSource = source.number;
    this.#firstCell = firstCell;
    this.#addFacts(source);
  }

  #addFacts({ source, name, camera, frame, timestampMs, capturedAtMs }: FeatureSource): void {
    const at = this.#texts.source.length;
    this.#texts.source.add(source);
    this.#texts.name.add(name);
    this.#texts.camera.add(camera);
    this.#numbers.frame[at] = frame;
    this.#numbers.timestampMs[at] = timestampMs ?? Number.NaN;
    this.#numbers.capturedAtMs[at] = capturedAtMs ?? Number.NaN;
  }

  #addCell(counted: number): void {
    this.#counted[this.#rows++] = counted;
    this.#cells++;
  }
}

function check(column: string, { source }: FeatureSource, value: number, largest: number): void {
  if (Number.isInteger(value) && value >= 0 && value <= largest) return;
  throw new Error(`Expected integers from 0 to ${largest} for ${column} of '${source}' but received ${value}`);
}
