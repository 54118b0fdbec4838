import { type ColumnPage, noLevels } from './column-page.ts';
import { deltaPack, deltaPackedBytes } from './delta-pack.ts';
import { encodeLevels } from './number-columns.ts';

/** UTF-8 from byte `from` of `bytes` up to `end`, which is left out. */
export interface TextBytes {
  bytes: Uint8Array;
  from: number;
  end: number;
}

/**
 * A column of texts in the order in which they were added: each is written as the bytes that it has in common with the one before
 * it and the rest (DELTA_BYTE_ARRAY), so that the URIs of a folder take few. Holds those rests of one row group.
 */
export class TextPages {
  readonly #path: string[];
  readonly #isOptional: boolean;
  #rows = 0;
  /** By row: whether it is not null. */
  #levels: number[] = [];
  /** By text: bytes in common with the one before, and others. */
  #shared: number[] = [];
  #rest: number[] = [];
  #rests: Buffer = Buffer.allocUnsafe(2 ** 12);
  #restBytes = 0;
  /** The text that was added last. */
  #last: Buffer = Buffer.allocUnsafe(2 ** 8);
  #lastBytes = 0;
  /** The same where it came as a string. */
  #lastText: string | undefined;
  /** A string as UTF-8. */
  readonly #written: { bytes: Buffer; from: number; end: number } = {
    bytes: Buffer.allocUnsafe(2 ** 8),
    from: 0,
    end: 0,
  };
  /** The first and the last in the order of their UTF-8, which Parquet takes as that of texts; where it is not the text added last. */
  #least: Buffer | undefined;
  #most: Buffer | undefined;

  /** The column is nullable where `isOptional`. */
  constructor(path: string[], isOptional: boolean) {
    this.#path = path;
    this.#isOptional = isOptional;
  }

  /** Adds a text; its bytes may be written over afterwards. */
  add(text: string | TextBytes | null): void {
    this.#rows++;
    if (this.#isOptional) this.#levels.push(text === null ? 0 : 1);
    if (text === null) return;
    if (typeof text !== 'string') {
      this.#lastText = undefined;
      this.#add(text);
    } else if (text === this.#lastText) {
      this.#shared.push(this.#lastBytes);
      this.#rest.push(0);
    } else {
      this.#lastText = text;
      this.#add(this.#write(text));
    }
  }

  /** The column of the texts that were added since the last. */
  take(): ColumnPage {
    const [rows, known] = [this.#rows, this.#shared.length];
    const nulls = rows - known;
    const levels = this.#isOptional ? encodeLevels(this.#levels) : undefined;
    const page: ColumnPage = {
      ...{ path: this.#path, type: 'BYTE_ARRAY', rows, values: rows },
      ...{ ...noLevels, nulls, ...(levels && { definitionLevels: levels }) },
      // An encoding of differences needs a first value.
      ...(known > 0 ? { encoding: 'DELTA_BYTE_ARRAY', data: this.#encode() } : { encoding: 'PLAIN', data: nothing }),
      statistics: { ...(known > 0 && this.#limits()), null_count: BigInt(nulls) },
    };
    this.#rows = 0;
    this.#levels = [];
    this.#shared = [];
    this.#rest = [];
    this.#restBytes = 0;
    this.#lastText = undefined;
    return page;
  }

  #write(text: string): TextBytes {
    const written = this.#written;
    if (written.bytes.length < unitBytes * text.length) written.bytes = Buffer.allocUnsafe(2 * unitBytes * text.length);
    written.end = written.bytes.write(text);
    return written;
  }

  #add(text: TextBytes): void {
    const { bytes, from, end } = text;
    const length = end - from;
    const isFirst = this.#shared.length === 0;
    const most = isFirst ? 0 : Math.min(length, this.#lastBytes);
    const last = this.#last;
    let same = 0;
    while (same < most && bytes[from + same] === last[same]) same++;
    if (isFirst) this.#least = this.#most = undefined;
    else {
      // The first byte that differs decides on the order.
      const order = same < most ? bytes[from + same]! - last[same]! : length - this.#lastBytes;
      if (order < 0) {
        this.#most ??= this.#lastCopied();
        if (this.#least && Buffer.compare(bytes.subarray(from, end), this.#least) < 0) this.#least = undefined;
      } else if (order > 0) {
        this.#least ??= this.#lastCopied();
        if (this.#most && Buffer.compare(bytes.subarray(from, end), this.#most) > 0) this.#most = undefined;
      }
    }
    this.#last = grown(this.#last, length);
    this.#rests = grown(this.#rests, this.#restBytes + length - same);
    const [rests, kept] = [this.#rests, this.#last];
    let to = this.#restBytes;
    for (let i = same; i < length; i++) {
      const byte = bytes[from + i]!;
      kept[i] = byte;
      rests[to++] = byte;
    }
    this.#restBytes = to;
    this.#lastBytes = length;
    this.#shared.push(same);
    this.#rest.push(length - same);
  }

  #lastCopied(): Buffer {
    return Buffer.from(this.#last.subarray(0, this.#lastBytes));
  }

  #encode(): Uint8Array {
    const count = this.#shared.length;
    const bytes = Buffer.allocUnsafe(2 * deltaPackedBytes(count) + this.#restBytes);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const end = deltaPack(this.#rest, count, view, deltaPack(this.#shared, count, view, 0));
    return bytes.subarray(0, end + this.#rests.copy(bytes, end, 0, this.#restBytes));
  }

  #limits(): { min_value: string; max_value: string } {
    const [least, most] = [this.#least ?? this.#lastCopied(), this.#most ?? this.#lastCopied()];
    return { min_value: least.toString(), max_value: most.toString() };
  }
}

const nothing = new Uint8Array();

/** UTF-8 has at most so many bytes for a UTF-16 unit. */
const unitBytes = 3;

/** Those bytes where they are as many, or more with the same at their front. */
function grown(bytes: Buffer, length: number): Buffer {
  if (bytes.length >= length) return bytes;
  const larger = Buffer.allocUnsafe(2 * length);
  bytes.copy(larger);
  return larger;
}
