import type { CaptureOrigin } from '@halogrid/sources/captured';
import { AtomicFile } from '../files/atomic-file.ts';
import { listHead } from './list-head.ts';
import { ListedSources } from './listed-sources.ts';
import type { CaptureCounts, SourcesPiece } from './range-sources.ts';
import { type ListName, listNames } from './source-line.ts';
import { SourceRows } from './source-rows.ts';

/** The most sources of sources.jsonl. A job with more lists its sources in sources.parquet. */
export const mostLines = 1_000_000;

/** A summary of all sources, once their tables are written. */
export interface SourceSummary {
  /**
   * The entries of job.json as JSON: one per image, one for all consecutive frames of a video. Undefined if too many.
   */
  listed: string[] | undefined;
  /** The name of the file that lists all sources. */
  file: ListName;
  /** The number of entries, also if they are too many to list. */
  entries: number;
  captured: CaptureCounts;
}

/** The state of tables that are being written. */
export interface WrittenSources {
  /** The number of sources so far. */
  sources: number;
  /** The number of entries of job.json so far. */
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
 * Writes a job's tables about its sources, except histograms, piece by piece and in order: the list of sources, and
 * errors.jsonl with a line per quarantined source, which is missing if no source is quarantined. Memory does not grow
 * with the number of sources, except for the first entries of job.json.
 */
export class SourceTables {
  readonly #options: SourceTablesOptions;
  readonly #file: AtomicFile;
  /** The list as row groups, once there are any. They have all sources from the first on, and replace the lines. */
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

  /** The state so far. */
  get written(): WrittenSources {
    return { sources: this.#count, entries: this.#listed.count, lines: this.#file.temporary };
  }

  /** Writes the next sources. */
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

  /** Removes everything that was written so far. */
  async abort(): Promise<void> {
    await this.#errors?.abort();
    await this.#rows?.abort();
    await this.#file.abort();
  }
}

export type { CaptureCounts };
