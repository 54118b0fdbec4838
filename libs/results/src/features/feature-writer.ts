import type { PlacedPage } from './encode-page.ts';
import { FeatureFiles } from './feature-files.ts';
import { type FeatureGroup, FeatureGroups } from './feature-groups.ts';
import type { FooterFacts } from './footer-groups.ts';
import type { FileLimits } from './page-layout.ts';
import { type FeatureShape, type FeatureSource, PageMaker } from './page-maker.ts';

export type { FileLimits } from './page-layout.ts';
export type { FeatureShape, FeatureSource } from './page-maker.ts';

/** The histogram of a grid cell. */
export interface FeatureCell {
  /** How many pixels it counts. */
  counted: number;
  /** Counts of the bins, channels one after another. */
  histogram: ArrayLike<number>;
}

const maxInt32 = 2 ** 31 - 1;

/**
 * Writes features.parquet source by source, in the order of their numbers, with a row per cell. It holds one row group
 * in memory, whatever the number of rows. Equal rows give equal bytes, whatever sources are left out, because pages and
 * row groups are ranges of numbers.
 *
 * Columns: source and name (strings), frame (int32), timestamp_ms (double, nullable), captured_at (timestamp in UTC,
 * milliseconds, nullable), camera (string, nullable), cell_row and cell_col (int32), counted (int64), histogram (list
 * of int32, or of int64 if one of the job's counts needs it). The footer has the least and the largest value of each
 * column and row group.
 */
export class FeatureWriter {
  readonly #pages: PageMaker;
  readonly #groups: FeatureGroups;
  readonly #files: FeatureFiles;

  /** The folder of `path` must exist. */
  static async create(path: string, shape: FeatureShape, limits?: FileLimits): Promise<FeatureWriter> {
    const pages = new PageMaker(shape, limits);
    return new FeatureWriter(pages, await FeatureFiles.create(path, pages.layout));
  }

  private constructor(pages: PageMaker, files: FeatureFiles) {
    this.#pages = pages;
    this.#groups = new FeatureGroups(pages.layout);
    this.#files = files;
  }

  /** Adds a source with all its cells. Rejects with one sentence if a number does not fit into its column. */
  async add(source: FeatureSource, cells: readonly FeatureCell[]): Promise<void> {
    this.#check(source, cells);
    await this.#append(this.#pages.begin(source));
    for (const { counted, histogram } of cells) {
      this.#pages.add(counted, histogram);
      if (this.#pages.isFull) await this.#append(this.#pages.end());
    }
  }

  /**
   * Ends the file with its description, key by key, makes it durable and gives it its name. `sources` is the number of
   * all sources of the job, also quarantined ones. Leaves nothing if that fails.
   */
  async finish(sources: number, about: FooterFacts['about'] = {}): Promise<void> {
    try {
      await this.#append(this.#pages.end());
      await this.#write(this.#groups.end());
      await this.#files.finish(sources, about);
    } catch (error) {
      await this.abort();
      throw error;
    }
  }

  /** Removes everything that was written, also after a failure. */
  async abort(): Promise<void> {
    await this.#files.abort();
  }

  async #append(page: PlacedPage | undefined): Promise<void> {
    if (page) await this.#write(this.#groups.add(page));
  }

  async #write(group: FeatureGroup | undefined): Promise<void> {
    if (group) await this.#files.append(group);
  }

  #check(source: FeatureSource, cells: readonly FeatureCell[]): void {
    const { layout } = this.#pages;
    check('frame', source, source.frame, maxInt32);
    if (cells.length !== layout.cells) {
      throw new Error(`Expected ${layout.cells} cells of '${source.source}' but received ${cells.length}`);
    }
    for (const { counted, histogram } of cells) {
      check('counted', source, counted, Number.MAX_SAFE_INTEGER);
      if (histogram.length !== layout.bins) {
        const expected = `Expected ${layout.bins} bins for histogram of '${source.source}'`;
        throw new Error(`${expected} but received ${histogram.length}`);
      }
      for (let bin = 0; bin < histogram.length; bin++) {
        check('histogram', source, histogram[bin]!, Number.MAX_SAFE_INTEGER);
      }
    }
  }
}

function check(column: string, { source }: FeatureSource, value: number, largest: number): void {
  if (Number.isInteger(value) && value >= 0 && value <= largest) return;
  throw new Error(`Expected integers from 0 to ${largest} for ${column} of '${source}' but received ${value}`);
}
