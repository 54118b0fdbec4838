import { readSync } from 'node:fs';
import { type ListName, listNames, type SourceLine, SourceList } from '@halogrid/results/source-list';
import { SourceRows } from '@halogrid/results/source-rows';
import { AtomicFile } from '@halogrid/results/write-file-atomically';
import { type CaptureRule, captureText } from '@halogrid/sources/captured';
import { redactUri } from '@halogrid/sources/redact-uri';
import type { SettledRow } from '../ledger/ledger.ts';
import { LineBuffer } from './line-buffer.ts';
import { ListedSources } from './listed-sources.ts';
import { listHead } from './previous/source-line.ts';
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
  /** Once there are too many for lines; `#file` has their names alone from then on. */
  #rows: SourceRows | undefined;
  readonly #listed = new ListedSources();
  readonly #captured: CaptureCounts = {};
  #errors: AtomicFile | undefined;
  readonly #errorLines = new LineBuffer();
  readonly #lines = new LineBuffer();
  #count = 0;
  /** Names that have no line, those of quarantined sources. */
  readonly #unwritten: string[] = [];

  static async create(options: SourceTablesOptions): Promise<SourceTables> {
    return new SourceTables(options, await AtomicFile.create(options.sources));
  }

  private constructor(options: SourceTablesOptions, file: AtomicFile) {
    this.#options = options;
    this.#mostLines = options.mostLines ?? 1_000_000;
    this.#file = file;
    this.#lines.put(listHead);
  }

  /** The next source, and the name of its files. What it returns is to be waited for before the next; undefined for nothing. */
  add(source: SettledRow, name: string): Promise<void> | undefined {
    if (this.#count === this.#mostLines && !this.#rows) return this.#makeRows().then(() => this.add(source, name));
    this.#count++;
    this.#listed.add(source, name);
    const line = lineOf(source, name);
    this.#lines.put(this.#rows ? { name: line.quarantined ? undefined : name } : line);
    if (source.state === 'quarantined') {
      this.#errorLines.put(errorOf(source));
      this.#unwritten.push(name);
    } else {
      const origin = this.#options.rule.origin(source);
      this.#captured[origin] = (this.#captured[origin] ?? 0) + 1;
    }
    const added = this.#rows?.add(line);
    const isMuch = this.#lines.length + this.#errorLines.length >= pieceBytes;
    return added || isMuch ? Promise.resolve(added).then(() => (isMuch ? this.#flush() : undefined)) : undefined;
  }

  /** Makes the files durable and gives them their names; tells of those sources that are done what their files are called. */
  async finish(named: readonly number[]): Promise<PartSummary> {
    await this.#flush();
    await this.#errors?.commit();
    if (this.#rows) {
      await this.#rows.finish();
      await this.#file.abort();
    } else await this.#file.commit();
    const file: ListName = this.#rows ? listNames.rows : listNames.lines;
    return { ...this.#listed.end(), file, names: await this.#names(named), captured: this.#captured };
  }

  /** Removes what was written so far. */
  async abort(): Promise<void> {
    await this.#errors?.abort();
    await this.#rows?.abort();
    await this.#file.abort();
  }

  /** All names that were given, in no order. It waits for the disk, and is not called while it writes. */
  *namesSoFar(): Generator<string> {
    yield* this.#unwritten;
    let rest = Buffer.alloc(0);
    for (let at = 0; ; ) {
      const piece = Buffer.allocUnsafe(pieceBytes);
      const read = readSync(this.#file.handle.fd, piece, 0, piece.length, at);
      if (read === 0) break;
      at += read;
      const bytes = Buffer.concat([rest, piece.subarray(0, read)]);
      const end = bytes.lastIndexOf('\n') + 1;
      yield* namesIn(bytes.toString('utf8', 0, end));
      rest = bytes.subarray(end);
    }
    yield* namesIn(this.#lines.bytes.toString());
  }

  async #names(indexes: readonly number[]): Promise<Map<number, string>> {
    const names = new Map<number, string>();
    if (indexes.length === 0) return names;
    const list = await SourceList.at(this.#rows ? this.#options.rows : this.#options.sources);
    for (const index of indexes.filter((index) => index < this.#count)) {
      const line = await list.line(index);
      if (!line.quarantined) names.set(index, line.name);
    }
    return names;
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

function lineOf(source: SettledRow, name: string): SourceLine {
  const { video, version } = source;
  const [uri, frame, timestampMs] = [redactUri(source.uri), video?.frame, video?.timestampMs];
  // JSON leaves out what is undefined.
  if (source.state === 'quarantined') return { uri, frame, timestampMs, version, quarantined: true } as SourceLine;
  const { width, height, counted, digest, captured: time } = source;
  const captured = time && captureText(time);
  return { uri, frame, timestampMs, version, name, width, height, counted, digest, captured } as SourceLine;
}

/** The names in some lines. */
function* namesIn(lines: string): Generator<string> {
  for (const line of lines.split('\n')) {
    const { name } = line ? JSON.parse(line) : {};
    if (name !== undefined) yield name;
  }
}

/**
 * `uri`; `frame`, the number of the frame inside it, 0 for an image; `stage` ("read", "decode" or "compute"); `error`, one sentence;
 * `attempts`, how often it was leased, 0 where the planner could not read it.
 */
function errorOf({ uri, video, stage, error, attempts }: Extract<SettledRow, { state: 'quarantined' }>): object {
  return { uri: redactUri(uri), frame: video?.frame ?? 0, stage, error, attempts };
}
