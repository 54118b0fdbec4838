import { readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { AtomicFile } from '@halogrid/results/write-file-atomically';
import { type CaptureOrigin, type CaptureRule, type CaptureTime, captureText } from '@halogrid/sources/captured';
import { redactUri } from '@halogrid/sources/redact-uri';
import { type TextRange, textOf } from '@halogrid/sources/source-block';
import type { SettledRow } from '../ledger/ledger.ts';
import type { SettledFrames } from '../ledger/settled-frames.ts';
import { LineBuffer } from './line-buffer.ts';
import { ListedSources } from './listed-sources.ts';
import { headLine, type SourceLine } from './previous/source-line.ts';
import type { CaptureCounts, PartSummary } from './tables-output.ts';

export interface SourceTablesOptions {
  /** Paths of sources.jsonl and errors.jsonl. */
  sources: string;
  errors: string;
  rule: CaptureRule;
}

/** The digest of the frame whose line is written. */
const digestBytes = { bytes: new Uint8Array(), from: 0, end: 0 };

/** What a line of sources.jsonl has before each value and behind the last. */
const keys = {
  uri: Buffer.from('{"uri":'),
  version: Buffer.from(',"version":'),
  name: Buffer.from(',"name":'),
  width: Buffer.from(',"width":'),
  height: Buffer.from(',"height":'),
  counted: Buffer.from(',"counted":'),
  digest: Buffer.from(',"digest":'),
  end: Buffer.from('}\n'),
};
const [quote, space] = [Buffer.from('"'), Buffer.from(' ')];

/** What is told of a settled frame, as its tables have it. */
export interface FrameTexts {
  /** As it may be shown. */
  uri: string | TextRange;
  /** That of its files. */
  name: TextRange;
  captured: CaptureTime | undefined;
  origin: CaptureOrigin;
}

/** Bytes that are written or read back at once. */
const pieceBytes = 2 ** 20;

/** Lines of sources.jsonl between two whose place is known. */
const markLines = 1024;

/**
 * Writes what a job tells of its sources beside their histograms, one by one and in order: sources.jsonl, a line a source, with the
 * version of its file when it was listed, before anyone read it, so that what was written to the file since makes another version; and
 * errors.jsonl, a line a quarantined source, which is there only where there is one. Memory does not grow with them, but for the
 * first entries of job.json.
 */
export class SourceTables {
  readonly #options: SourceTablesOptions;
  readonly #file: AtomicFile;
  readonly #listed = new ListedSources();
  readonly #captured: CaptureCounts = {};
  #errors: AtomicFile | undefined;
  readonly #errorLines = new LineBuffer();
  readonly #lines = new LineBuffer();
  #writtenBytes = 0;
  #count = 0;
  /** Names that have no line, those of quarantined sources. */
  readonly #unwritten: string[] = [];
  /** Where line 0, `markLines`, 2 `markLines` and so on of the sources begin. */
  readonly #marks: number[] = [];

  static async create(options: SourceTablesOptions): Promise<SourceTables> {
    return new SourceTables(options, await AtomicFile.create(options.sources));
  }

  private constructor(options: SourceTablesOptions, file: AtomicFile) {
    this.#options = options;
    this.#file = file;
    this.#lines.put(`${headLine}\n`);
  }

  /** The next source, and the name of its files. What it returns is to be waited for before the next; undefined for nothing. */
  add(source: SettledRow, name: string): Promise<void> | undefined {
    this.#listed.add(source, name);
    this.#mark();
    this.#lines.put(`${JSON.stringify(lineOf(source, name))}\n`);
    if (source.state === 'quarantined') {
      this.#errorLines.put(`${JSON.stringify(errorOf(source))}\n`);
      this.#unwritten.push(name);
    } else this.#countOrigin(this.#options.rule.origin(source));
    return this.#flushMuch();
  }

  /** The same of a settled frame, whose columns are not made an object. */
  addFrame(
    frames: SettledFrames,
    frame: number,
    { uri, name, captured, origin }: FrameTexts,
  ): Promise<void> | undefined {
    if (this.#listed.isFull) this.#listed.skip();
    else this.#listed.add(frames.settled(frame), textOf(name));
    this.#mark();
    const lines = this.#lines;
    lines.raw(keys.uri);
    lines.text(uri);
    this.#putVersion(frames, frame);
    lines.raw(keys.name);
    lines.text(name);
    lines.raw(keys.width);
    lines.number(frames.width(frame));
    lines.raw(keys.height);
    lines.number(frames.height(frame));
    lines.raw(keys.counted);
    lines.number(frames.counted(frame));
    lines.raw(keys.digest);
    frames.digestBytes(frame, digestBytes);
    lines.hex(digestBytes.bytes, digestBytes.from, digestBytes.end);
    if (captured) lines.put(`,"captured":${JSON.stringify(captureText(captured))}`);
    lines.raw(keys.end);
    this.#countOrigin(origin);
    return this.#flushMuch();
  }

  #putVersion(frames: SettledFrames, frame: number): void {
    const lines = this.#lines;
    const numbers = frames.sizeAndTime(frame);
    const version = numbers ? undefined : frames.version(frame);
    if (!numbers && version === undefined) return;
    lines.raw(keys.version);
    if (!numbers) {
      lines.text(version!);
      return;
    }
    lines.raw(quote);
    lines.number(numbers.size);
    lines.raw(space);
    lines.decimal(numbers.time);
    lines.raw(quote);
  }

  #mark(): void {
    if (this.#count++ % markLines === 0) this.#marks.push(this.#writtenBytes + this.#lines.length);
  }

  #countOrigin(origin: CaptureOrigin): void {
    this.#captured[origin] = (this.#captured[origin] ?? 0) + 1;
  }

  #flushMuch(): Promise<void> | undefined {
    return this.#lines.length + this.#errorLines.length >= pieceBytes ? this.#flush() : undefined;
  }

  /** Makes the files durable and gives them their names; tells of those sources that are done what their files are called. */
  async finish(named: readonly number[]): Promise<PartSummary> {
    await this.#flush();
    await this.#errors?.commit();
    await this.#file.commit();
    return { ...this.#listed.end(), names: await this.#names(named), captured: this.#captured };
  }

  /** Removes what was written so far. */
  async abort(): Promise<void> {
    await this.#errors?.abort();
    await this.#file.abort();
  }

  /** All names that were given, in no order. It waits for the disk, and is not called while it writes. */
  *namesSoFar(): Generator<string> {
    yield* this.#unwritten;
    const { fd } = this.#file.handle;
    let rest = Buffer.alloc(0);
    for (let at = 0; at < this.#writtenBytes; ) {
      const piece = Buffer.allocUnsafe(Math.min(pieceBytes, this.#writtenBytes - at));
      const read = readSync(fd, piece, 0, piece.length, at);
      if (read === 0) throw new Error(`'${this.#options.sources}' ends early`);
      at += read;
      const bytes = Buffer.concat([rest, piece.subarray(0, read)]);
      const end = bytes.lastIndexOf('\n') + 1;
      yield* namesIn(bytes.toString('utf8', 0, end));
      rest = bytes.subarray(end);
    }
    yield* namesIn(this.#lines.bytes.toString());
  }

  async #flush(): Promise<void> {
    this.#writtenBytes += this.#lines.length;
    await this.#file.handle.writeFile(this.#lines.bytes);
    this.#lines.clear();
    if (this.#errorLines.length === 0) return;
    this.#errors ??= await AtomicFile.create(this.#options.errors);
    await this.#errors.handle.writeFile(this.#errorLines.bytes);
    this.#errorLines.clear();
  }

  async #names(indexes: readonly number[]): Promise<Map<number, string>> {
    const names = new Map<number, string>();
    const file = await open(this.#options.sources, 'r');
    try {
      for (const index of indexes) {
        const line = await this.#line(file, index);
        if (line && !line.quarantined) names.set(index, line.name);
      }
    } finally {
      await file.close();
    }
    return names;
  }

  /** Lines are looked for from the last mark on. */
  async #line(file: FileHandle, index: number): Promise<SourceLine | undefined> {
    const mark = Math.floor(index / markLines);
    const start = this.#marks[mark];
    if (start === undefined || index >= this.#count) return undefined;
    const end = this.#marks[mark + 1] ?? this.#writtenBytes;
    const { buffer } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
    return JSON.parse(
      buffer
        .toString()
        .split('\n', (index % markLines) + 1)
        .at(-1)!,
    );
  }
}

function lineOf(source: SettledRow, name: string): SourceLine {
  const { uri, video, version } = source;
  const what = { uri: redactUri(uri), ...video, ...(version !== undefined && { version }) };
  if (source.state === 'quarantined') return { ...what, quarantined: true };
  const { width, height, counted, digest, captured } = source;
  return { ...what, name, width, height, counted, digest, ...(captured && { captured: captureText(captured) }) };
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
