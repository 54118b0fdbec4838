import type { CaptureOrigin } from '@halogrid/sources/captured';
import { AtomicFile } from '../files/atomic-file.ts';
import { listHead } from './list-head.ts';
import { ListedSources } from './listed-sources.ts';
import type { CaptureCounts, SourcesPiece } from './range-sources.ts';
import { type ListName, listNames } from './source-line.ts';
import { SourceRows } from './source-rows.ts';

/** Sources that sources.jsonl has at most; those of a job with more are in sources.parquet. */
export const mostLines = 1_000_000;

/** What is known of sources once their tables are written. */
export interface SourceSummary {
  /** The entries of job.json, each as JSON: one an image, and one for all frames of a video that follow one another. Undefined where they are too many. */
  listed: string[] | undefined;
  /** The list of sources. */
  file: ListName;
  /** Entries that there are. */
  entries: number;
  captured: CaptureCounts;
}

/** What is written of sources. */
export interface WrittenSources {
  sources: number;
  /** Entries of job.json. */
  entries: number;
  /** Path of a list with the lines so far. */
  lines: string;
}

export interface SourceTablesOptions {
  /** Paths of sources.jsonl, sources.parquet and errors.jsonl. */
  sources: string;
  rows: string;
  errors: string;
}

/**
 * Writes what a job tells of its sources beside their histograms, piece by piece and in order: their list, with the version of each file when it
 * was listed, before anyone read it, so that what was written to the file since makes another version; and errors.jsonl, a line a
 * quarantined source, which is there only where there is one. Memory does not grow with them, but for the first entries of job.json.
 */
export class SourceTables {
  readonly #options: SourceTablesOptions;
  readonly #file: AtomicFile;
  /** Once there are row groups, which are of all sources from the first on; the list has no lines then. */
  #rows: SourceRows | undefined;
  readonly #listed = new ListedSources();
  readonly #captured: CaptureCounts = {};
  #errors: AtomicFile | undefined;
  #count = 0;

  static async create(options: SourceTablesOptions): Promise<SourceTables> {
    const file = await AtomicFile.create(options.sources);
    const tables = new SourceTables(options, file);
    await file.handle.writeFile(`${JSON.stringify(listHead)}\n`).catch(async (error) => {
      await tables.abort();
      throw error;
    });
    return tables;
  }

  private constructor(options: SourceTablesOptions, file: AtomicFile) {
    this.#options = options;
    this.#file = file;
  }

  /** What is written so far. */
  get written(): WrittenSources {
    return { sources: this.#count, entries: this.#listed.count, lines: this.#file.temporary };
  }

  /** The next sources. */
  async append({ count, lines, groups, errors, captured, listed }: SourcesPiece): Promise<void> {
    this.#count += count;
    this.#listed.append(listed);
    for (const [origin, sources] of Object.entries(captured) as [CaptureOrigin, number][]) {
      this.#captured[origin] = (this.#captured[origin] ?? 0) + sources;
    }
    if (errors.length > 0) {
      this.#errors ??= await AtomicFile.create(this.#options.errors);
      await this.#errors.handle.writeFile(errors);
    }
    if (lines.length > 0) await this.#file.handle.writeFile(lines);
    for (const group of groups) {
      this.#rows ??= await SourceRows.create(this.#options.rows, listHead);
      await this.#rows.append(group);
    }
  }

  /** Makes the files durable and gives them their names. */
  async finish(): Promise<SourceSummary> {
    await this.#errors?.commit();
    if (this.#rows) {
      await this.#rows.finish();
      await this.#file.abort();
    } else await this.#file.commit();
    const file: ListName = this.#rows ? listNames.rows : listNames.lines;
    return { ...this.#listed.end(), file, captured: this.#captured };
  }

  /** Removes what was written so far. */
  async abort(): Promise<void> {
    await this.#errors?.abort();
    await this.#rows?.abort();
    await this.#file.abort();
  }
}

export type { CaptureCounts };
