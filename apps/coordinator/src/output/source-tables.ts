import { AtomicFile } from '@halogrid/results/write-file-atomically';
import { type CaptureOrigin, type CaptureRule, type CaptureTime, captureText } from '@halogrid/sources/captured';
import { redactUri } from '@halogrid/sources/redact-uri';
import type { TextRange } from '@halogrid/sources/source-block';
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

  static async create(options: SourceTablesOptions): Promise<SourceTables> {
    return new SourceTables(options, await AtomicFile.create(options.sources));
  }

  private constructor(options: SourceTablesOptions, file: AtomicFile) {
    this.#options = options;
    this.#file = file;
    this.#lines.put(`${headLine}\n`);
  }

  /** The next source. What it returns is to be waited for before the next; undefined for nothing. */
  add(source: SettledRow): Promise<void> | undefined {
    this.#listed.add(source);
    this.#lines.put(`${JSON.stringify(lineOf(source))}\n`);
    if (source.state === 'quarantined') this.#errorLines.put(`${JSON.stringify(errorOf(source))}\n`);
    else this.#countOrigin(this.#options.rule.origin(source));
    return this.#flushMuch();
  }

  /** The same of a settled frame, whose columns are not made an object. */
  addFrame(
    frames: SettledFrames,
    frame: number,
    { uri, name, captured, origin }: FrameTexts,
  ): Promise<void> | undefined {
    if (frames.video(frame)) return this.add(frames.settled(frame));
    if (this.#listed.isFull) this.#listed.skip();
    else this.#listed.add(frames.settled(frame));
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

  #countOrigin(origin: CaptureOrigin): void {
    this.#captured[origin] = (this.#captured[origin] ?? 0) + 1;
  }

  #flushMuch(): Promise<void> | undefined {
    return this.#lines.length + this.#errorLines.length >= pieceBytes ? this.#flush() : undefined;
  }

  /** Makes the files durable and gives them their names. */
  async finish(): Promise<PartSummary> {
    await this.#flush();
    await this.#errors?.commit();
    await this.#file.commit();
    return { ...this.#listed.end(), captured: this.#captured };
  }

  /** Removes what was written so far. */
  async abort(): Promise<void> {
    await this.#errors?.abort();
    await this.#file.abort();
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
  const { uri, name, video, version } = source;
  const what = { uri: redactUri(uri), ...video, ...(version !== undefined && { version }) };
  if (source.state === 'quarantined') return { ...what, quarantined: true };
  const { width, height, counted, digest, captured } = source;
  return { ...what, name, width, height, counted, digest, ...(captured && { captured: captureText(captured) }) };
}

/**
 * `uri`; `frame`, the number of the frame inside it, 0 for an image; `stage` ("read", "decode" or "compute"); `error`, one sentence;
 * `attempts`, how often it was leased, 0 where the planner could not read it.
 */
function errorOf({ uri, video, stage, error, attempts }: Extract<SettledRow, { state: 'quarantined' }>): object {
  return { uri: redactUri(uri), frame: video?.frame ?? 0, stage, error, attempts };
}
