import { listHead } from '@halogrid/results/list-head';
import { type ListName, listNames, type SourceLine, SourceList } from '@halogrid/results/source-list';
import { SourceRows } from '@halogrid/results/source-rows';
import { AtomicFile } from '@halogrid/results/write-file-atomically';
import { type CaptureRule, captureText } from '@halogrid/sources/captured';
import { redactUri } from '@halogrid/sources/redact-uri';
import type { SettledRow } from '../ledger/ledger.ts';
import { LineBuffer } from './line-buffer.ts';
import { ListedSources } from './listed-sources.ts';
import type { CaptureCounts, PartSummary } from './tables-output.ts';

export interface SourceTablesOptions {
  /** Paths of sources.jsonl, sources.parquet and errors.jsonl. */
  sources: string;
  rows: string;
  errors: string;
  rule: CaptureRule;
  /** Sources that sources.jsonl has at most; those of a job with more are in sources.parquet. */
  mostLines?: number | undefined;
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

  /** The next source. What it returns is to be waited for before the next; undefined for nothing. */
  add(source: SettledRow): Promise<void> | undefined {
    if (this.#count === this.#mostLines && !this.#rows) return this.#makeRows().then(() => this.add(source));
    this.#count++;
    this.#listed.add(source);
    const line = lineOf(source);
    if (!this.#rows) this.#lines.put(line);
    if (source.state === 'quarantined') this.#errorLines.put(errorOf(source));
    else {
      const origin = this.#options.rule.origin(source);
      this.#captured[origin] = (this.#captured[origin] ?? 0) + 1;
    }
    const added = this.#rows?.add(line);
    const isMuch = this.#lines.length + this.#errorLines.length >= pieceBytes;
    return added || isMuch ? Promise.resolve(added).then(() => (isMuch ? this.#flush() : undefined)) : undefined;
  }

  /** Makes the files durable and gives them their names. */
  async finish(): Promise<PartSummary> {
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

function lineOf(source: SettledRow): SourceLine {
  const { name, video, version } = source;
  const [uri, frame, timestampMs] = [redactUri(source.uri), video?.frame, video?.timestampMs];
  // JSON leaves out what is undefined.
  if (source.state === 'quarantined') return { uri, frame, timestampMs, version, quarantined: true } as SourceLine;
  const { width, height, counted, digest, captured: time } = source;
  const captured = time && captureText(time);
  return { uri, frame, timestampMs, version, name, width, height, counted, digest, captured } as SourceLine;
}

/**
 * `uri`; `frame`, the number of the frame inside it, 0 for an image; `stage` ("read", "decode" or "compute"); `error`, one sentence;
 * `attempts`, how often it was leased, 0 where the planner could not read it.
 */
function errorOf({ uri, video, stage, error, attempts }: Extract<SettledRow, { state: 'quarantined' }>): object {
  return { uri: redactUri(uri), frame: video?.frame ?? 0, stage, error, attempts };
}
