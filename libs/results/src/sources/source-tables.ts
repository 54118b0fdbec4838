import { type CaptureOrigin, type CaptureRule, parseCapture } from '@halogrid/sources/captured';
import { AtomicFile } from '../files/atomic-file.ts';
import { LineBuffer } from './line-buffer.ts';
import { listHead } from './list-head.ts';
import { ListedSources } from './listed-sources.ts';
import { type ListName, listNames, type SourceLine } from './source-line.ts';
import { SourceList } from './source-list.ts';
import { SourceRows } from './source-rows.ts';

/** How many sources that are done have a capture time from where. */
export type CaptureCounts = Partial<Record<CaptureOrigin, number>>;

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

export interface SourceTablesOptions {
  /** Paths of sources.jsonl, sources.parquet and errors.jsonl. */
  sources: string;
  rows: string;
  errors: string;
  rule: CaptureRule;
  /** Sources that sources.jsonl has at most; those of a job with more are in sources.parquet. */
  mostLines?: number | undefined;
}

/** Why a source is quarantined. */
export interface SourceFailure {
  stage: string;
  error: string;
  /** How often it was leased; 0 where the planner could not read it. */
  attempts: number;
}

/** Bytes that are written or read back at once. */
const pieceBytes = 2 ** 20;

/**
 * Writes what a job tells of its sources beside their histograms, one by one and in order: their list, with the version of each file when it
 * was listed, before anyone read it, so that what was written to the file since makes another version; and errors.jsonl, a line a
 * quarantined source, which is there only where there is one. Memory does not grow with them, but for the first entries of job.json.
 */
export class SourceTables {
  readonly #options: SourceTablesOptions;
  readonly #mostLines: number;
  readonly #file: AtomicFile;
  /** Once there are too many for lines; nothing more goes to `#file` from then on. */
  #rows: SourceRows | undefined;
  readonly #listed = new ListedSources();
  readonly #captured: CaptureCounts = {};
  #errors: AtomicFile | undefined;
  readonly #errorLines = new LineBuffer();
  readonly #lines = new LineBuffer();
  #count = 0;

  static async create(options: SourceTablesOptions): Promise<SourceTables> {
    return new SourceTables(options, await AtomicFile.create(options.sources));
  }

  private constructor(options: SourceTablesOptions, file: AtomicFile) {
    this.#options = options;
    this.#mostLines = options.mostLines ?? 1_000_000;
    this.#file = file;
    this.#lines.put(listHead);
  }

  /**
   * The next source; `failure` is there where it is quarantined. What it returns is to be waited for before the next;
   * undefined for nothing.
   */
  add(source: SourceLine, failure?: SourceFailure): Promise<void> | undefined {
    if (this.#count === this.#mostLines && !this.#rows) return this.#makeRows().then(() => this.add(source, failure));
    this.#count++;
    this.#listed.add(source, failure?.error);
    const line = inOrder(source);
    if (!this.#rows) this.#lines.put(line);
    if (failure) this.#errorLines.put(errorOf(source, failure));
    else {
      const origin = this.#originOf(source);
      this.#captured[origin] = (this.#captured[origin] ?? 0) + 1;
    }
    const added = this.#rows?.add(line);
    const isMuch = this.#lines.length + this.#errorLines.length >= pieceBytes;
    return added || isMuch ? Promise.resolve(added).then(() => (isMuch ? this.#flush() : undefined)) : undefined;
  }

  /** Makes the files durable and gives them their names. */
  async finish(): Promise<SourceSummary> {
    await this.#flush();
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

  #originOf({ uri, frame, timestampMs = null, ...source }: SourceLine): CaptureOrigin {
    const captured = source.quarantined || source.captured === undefined ? undefined : parseCapture(source.captured);
    const video = frame === undefined ? {} : { video: { timestampMs } };
    return this.#options.rule.origin({ uri, ...video, ...(captured && { captured }) });
  }

  async #makeRows(): Promise<void> {
    await this.#flush();
    const rows = await SourceRows.create(this.#options.rows, listHead);
    for await (const line of (await SourceList.at(this.#file.temporary)).lines()) await rows.add(line);
    this.#rows = rows;
  }

  async #flush(): Promise<void> {
    await this.#file.handle.writeFile(this.#lines.bytes);
    this.#lines.clear();
    if (this.#errorLines.length === 0) return;
    this.#errors ??= await AtomicFile.create(this.#options.errors);
    await this.#errors.handle.writeFile(this.#errorLines.bytes);
    this.#errorLines.clear();
  }
}

/** The fields of a line in the order that docs/outputs.md has; JSON leaves out those that are undefined. */
function inOrder(source: SourceLine): SourceLine {
  const { uri, frame, timestampMs, version } = source;
  if (source.quarantined) return { uri, frame, timestampMs, version, quarantined: true } as SourceLine;
  const { name, width, height, counted, digest, captured } = source;
  return { uri, frame, timestampMs, version, name, width, height, counted, digest, captured } as SourceLine;
}

/** A line of errors.jsonl; `frame` is the number of the frame in its video, 0 for an image. */
const errorOf = ({ uri, frame = 0 }: SourceLine, { stage, error, attempts }: SourceFailure): object => {
  return { uri, frame, stage, error, attempts };
};
