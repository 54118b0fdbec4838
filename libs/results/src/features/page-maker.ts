import type { Matrices } from '../counts/histogram-shape.ts';
import { columnPage, type MakePage } from './column-page.ts';
import { encodePage, type PlacedPage } from './encode-page.ts';
import { HistogramList } from './histogram-list.ts';
import { matrixColumnNames, matrixColumns } from './matrix-columns.ts';
import { type FileLimits, type PageLayout, pageLayout } from './page-layout.ts';
import { TextList } from './text-list.ts';

/** An image or frame without its histograms. */
export interface FeatureSource {
  /** Its number in the job, from 0; quarantined sources have numbers, too. */
  number: number;
  /** URI of the image or video. */
  source: string;
  /** The name of its files, without extensions: `preview/NAME.png`, `maps/NAME.tif`. */
  name: string;
  /** Index of the frame in its source; 0 for an image. */
  frame: number;
  /** The time of the frame in milliseconds from the start of its source; null for images and frames without a time. */
  timestampMs: number | null;
  /** When it was captured, in milliseconds since 1970 in UTC; null if that is not known. */
  capturedAtMs: number | null;
  /** The camera that captured it; null if that is not known. */
  camera: string | null;
}

/** The numbers that are the same for all rows. */
export interface FeatureShape {
  /** The cells of each image. */
  grid: { rows: number; columns: number };
  /** Counts of a row, 1 or more. */
  bins: number;
  /** Set if each channel is a matrix, whose statistics become columns. */
  matrices?: Matrices | undefined;
}

/**
 * Makes the pages of features.parquet from sources, which come in the order of their numbers, with a row per cell.
 * Holds one page. Equal rows give equal bytes, whatever sources are left out, because pages are ranges of numbers.
 */
export class PageMaker {
  readonly layout: PageLayout;
  readonly #makePage: MakePage;
  readonly #gridColumns: number;
  readonly #matrices: Matrices | undefined;
  /** Columns of the page with a value per source. */
  readonly #texts = { source: new TextList(), name: new TextList(), camera: new TextList() };
  readonly #numbers: Record<'frame' | 'timestampMs' | 'capturedAtMs', Float64Array>;
  /** Columns of the page with a value per row. */
  readonly #histograms: HistogramList;
  readonly #counted: Float64Array;
  #rows = 0;
  /** The source that was begun last, and how many of its cells were added. */
  #source: FeatureSource | undefined;
  #cells = 0;
  /** Where the page begins. */
  #firstSource = 0;
  #firstCell = 0;

  constructor({ grid, bins, matrices }: FeatureShape, limits?: FileLimits, makePage: MakePage = columnPage) {
    this.#makePage = makePage;
    this.#matrices = matrices;
    this.layout = pageLayout(grid.rows * grid.columns, bins, limits, matrixColumnNames(matrices));
    this.#gridColumns = grid.columns;
    const { pageSources, pageCells } = this.layout;
    const column = (size: number) => new Float64Array(size);
    this.#numbers = { frame: column(pageSources), timestampMs: column(pageSources), capturedAtMs: column(pageSources) };
    this.#counted = column(pageSources * pageCells);
    this.#histograms = new HistogramList(bins, pageSources * pageCells);
  }

  /** Begins a source, whose cells are added next. Returns the page that ended before it, if any. */
  begin(source: FeatureSource): PlacedPage | undefined {
    const { pageSources } = this.layout;
    const isOfNext = Math.floor(source.number / pageSources) !== Math.floor(this.#firstSource / pageSources);
    const ended = isOfNext ? this.end() : undefined;
    this.#source = source;
    this.#cells = 0;
    if (this.#rows === 0) this.#beginPage(source, 0);
    else this.#addFacts(source);
    return ended;
  }

  /** Adds the next cell of the source that was begun. It counts `counted` pixels. The page must not be full. */
  add(counted: number, counts: ArrayLike<number>): void {
    this.#histograms.add(counts);
    this.#addCell(counted);
  }

  /**
   * Adds a source with the counts of all its cells, end to end. The first `channelBins` counts of a cell add up to the
   * pixels that it counts. Returns the pages that ended.
   */
  addSource(source: FeatureSource, counts: Uint32Array | Float64Array, channelBins: number): PlacedPage[] {
    const { cells, bins } = this.layout;
    const before = this.begin(source);
    const ended = before ? [before] : [];
    for (let cell = 0; cell < cells; cell++) {
      // Making a view takes longer than everything else that is done for a cell.
      this.#histograms.add(cells === 1 ? counts : counts.subarray(cell * bins, (cell + 1) * bins));
      this.#addCell(this.#histograms.sumOfLast(channelBins));
      if (this.isFull) ended.push(this.end()!);
    }
    return ended;
  }

  /** Loads the varints that `addPacked` reads next: the counts of rows, each below 2^53. */
  load(bytes: Uint8Array): void {
    this.#histograms.load(bytes);
  }

  /**
   * Adds the next cell as `add` does, but with counts from the loaded varints, from byte `at` on. The first
   * `channelBins` counts add up to the pixels that the cell counts. Returns where the counts end. Counts that a ledger
   * has kept are not checked again. Throws RangeError if the bytes end early.
   */
  addPacked(at: number, channelBins: number): number {
    const end = this.#histograms.addPacked(at);
    this.#addCell(this.#histograms.sumOfLast(channelBins));
    return end;
  }

  /** Whether the page must be ended before the next cell or source. */
  get isFull(): boolean {
    const { cells, pageSources, pageCells } = this.layout;
    if (this.#cells < cells) return this.#cells - this.#firstCell === pageCells;
    return this.#rows > 0 && this.#source!.number % pageSources === pageSources - 1;
  }

  /** Ends the page; undefined if no rows were added. */
  end(): PlacedPage | undefined {
    const rows = this.#rows;
    if (rows === 0) return undefined;
    const { source, name, camera } = this.#texts;
    const of = (column: Float64Array) => column.subarray(0, source.length);
    const { frame, timestampMs, capturedAtMs } = this.#numbers;
    const pageRows = {
      source,
      name,
      camera,
      gridColumns: this.#gridColumns,
      firstCell: this.#firstCell,
      frame: of(frame),
      timestampMs: of(timestampMs),
      capturedAtMs: of(capturedAtMs),
      counted: this.#counted.subarray(0, rows),
      histograms: this.#histograms,
      statistics: this.#matrices ? matrixColumns(this.#matrices, this.#histograms, rows) : [],
    };
    const page = encodePage(pageRows, this.#makePage);
    const place = { firstSource: this.#firstSource, firstCell: this.#firstCell };
    for (const list of [source, name, camera, this.#histograms]) list.clear();
    this.#rows = 0;
    if (this.#cells < this.layout.cells) this.#beginPage(this.#source!, this.#cells);
    return { ...page, ...place };
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
