import type { BlockInput } from './block-input.ts';
import { copyBytes } from './copy-bytes.ts';

/** How the values of a column are written and read. */
export interface Column<Writer, Reader> {
  writer(texts: TextBytes): Writer;
  /** Reads `count` values; `nth[row]`: the place of a row's value, or -1. Without `nth`, each row has a value. */
  read(input: BlockInput, count: number, nth?: Int32Array): Reader;
}

/**
 * The bytes of a block's texts, as they are stored and as they are written out. Values that are bytes count as stored
 * only.
 */
export interface TextBytes {
  storedBytes: number;
  writtenBytes: number;
}

type Part = ArrayLike<number> | Uint8Array;

/** Takes the values of a column in order of rows. */
export abstract class ColumnWriter<Value> {
  #count = 0;
  /** The rows that have a value; undefined until a row without one has been passed. */
  #rows: number[] | undefined;

  abstract put(row: number, value: Value): void;

  /** The values: numbers, which become varints, and bytes. */
  abstract values(): Part[];

  /** Call it with the row of each value. */
  protected at(row: number): void {
    if (!this.#rows && row !== this.#count) this.#rows = Array.from({ length: this.#count }, (_, i) => i);
    this.#rows?.push(row);
    this.#count++;
  }

  /**
   * Varints: how many rows have a value; then, unless all rows have one, how many rows lie between each such row and
   * the one before.
   */
  places(rows: number): number[] {
    const count = this.#count;
    if (count === 0 || count === rows) return [count];
    const places = this.#rows ?? Array.from({ length: count }, (_, i) => i);
    return [count, ...places.map((row, i) => row - (i === 0 ? 0 : places[i - 1]! + 1))];
  }
}

/** A column of numbers that was read. */
export class Numbers {
  readonly #values: Float64Array;
  readonly #nth: Int32Array | undefined;

  constructor(values: Float64Array, nth: Int32Array | undefined) {
    this.#values = values;
    this.#nth = nth;
  }

  /** Undefined for a row without one. */
  at(row: number): number | undefined {
    const nth = this.#nth ? this.#nth[row]! : row;
    return nth < 0 ? undefined : this.#values[nth];
  }
}

class NumberWriter extends ColumnWriter<number> {
  readonly #numbers: number[] = [];

  put(row: number, value: number): void {
    this.at(row);
    this.#numbers.push(value);
  }

  values(): Part[] {
    return [this.#numbers];
  }
}

/** Integers from 0 to 2^53 - 1, as varints. */
export const uints = (): Column<ColumnWriter<number>, Numbers> => ({
  writer: () => new NumberWriter(),
  read: (input, count, nth) => new Numbers(input.numbers(count), nth),
});

class StepWriter extends NumberWriter {
  #next = 0;

  override put(row: number, value: number): void {
    const step = value - this.#next;
    super.put(row, step < 0 ? -2 * step - 1 : 2 * step);
    this.#next = value + 1;
  }
}

/**
 * Integers from 0 on that mostly grow by one: zigzag varints of each value's difference from one more than the value
 * before.
 */
export const steps = (): Column<ColumnWriter<number>, Numbers> => ({
  writer: () => new StepWriter(),
  read: (input, count, nth) => {
    const values = input.numbers(count);
    let next = 0;
    for (let i = 0; i < count; i++) {
      const step = values[i]!;
      const value = next + (step % 2 === 0 ? step / 2 : -(step + 1) / 2);
      if (!Number.isSafeInteger(value) || value < 0) input.refuse();
      values[i] = value;
      next = value + 1;
    }
    return new Numbers(values, nth);
  },
});

class DoubleWriter extends NumberWriter {
  override values(): Part[] {
    const [numbers] = super.values() as [number[]];
    const bytes = Buffer.allocUnsafe(8 * numbers.length);
    for (const [i, value] of numbers.entries()) bytes.writeDoubleLE(value, 8 * i);
    return [bytes];
  }
}

/** Any numbers, as float64, little-endian. */
export const doubles = (): Column<ColumnWriter<number>, Numbers> => ({
  writer: () => new DoubleWriter(),
  read: (input, count, nth) => {
    const bytes = input.raw(8 * count);
    const values = new Float64Array(count);
    for (let i = 0; i < count; i++) values[i] = bytes.readDoubleLE(8 * i);
    return new Numbers(values, nth);
  },
});

/** A column of marks that was read. */
export interface MarkColumn {
  has(row: number): boolean;
}

class MarkWriter extends ColumnWriter<true> {
  put(row: number): void {
    this.at(row);
  }

  values(): Part[] {
    return [];
  }
}

/** Which rows are marked. */
export const marks = (): Column<ColumnWriter<true>, MarkColumn> => ({
  writer: () => new MarkWriter(),
  read: (_input, _count, nth) => ({ has: (row) => (nth ? nth[row]! >= 0 : true) }),
});

/** A column of texts that was read. They are written out when one is first asked for. */
export class Texts {
  readonly #shared: Float64Array;
  readonly #rest: Buffer;
  readonly #ends: Uint32Array;
  readonly #nth: Int32Array | undefined;
  #written: Buffer | undefined;

  constructor(shared: Float64Array, rest: Buffer, ends: Uint32Array, nth: Int32Array | undefined) {
    this.#shared = shared;
    this.#rest = rest;
    this.#ends = ends;
    this.#nth = nth;
  }

  /** Undefined for a row without one. */
  at(row: number): string | undefined {
    const nth = this.#nth ? this.#nth[row]! : row;
    return nth < 0 ? undefined : this.#bytes().toString('utf8', this.#ends[nth - 1] ?? 0, this.#ends[nth]!);
  }

  #bytes(): Buffer {
    this.#written ??= this.#writeOut();
    return this.#written;
  }

  #writeOut(): Buffer {
    const [shared, rest, ends] = [this.#shared, this.#rest, this.#ends];
    const written = Buffer.allocUnsafe(ends[ends.length - 1] ?? 0);
    for (let i = 0, before = 0, start = 0, at = 0; i < ends.length; i++) {
      const restStart = start + shared[i]!;
      const end = ends[i]!;
      written.copyWithin(start, before, before + shared[i]!);
      copyBytes(rest, at, at + end - restStart, written, restStart);
      at += end - restStart;
      before = start;
      start = end;
    }
    return written;
  }
}

/**
 * Texts: varints of the number of bytes that each shares with the text before, then of the number of its other bytes;
 * then the other bytes, as UTF-8.
 */
export const texts = (): Column<TextWriter, Texts> => ({
  writer: (bytes) => new TextWriter(bytes),
  read: (input, count, nth) => {
    const shared = input.numbers(count);
    const rest = input.numbers(count);
    const ends = new Uint32Array(count);
    let [before, end, stored] = [0, 0, 0];
    for (let i = 0; i < count; i++) {
      if (shared[i]! > before) input.refuse();
      before = shared[i]! + rest[i]!;
      input.takeText(before);
      end += before;
      stored += rest[i]!;
      ends[i] = end;
    }
    return new Texts(shared, input.raw(stored), ends, nth);
  },
});

/** A column of bytes that was read. */
export class Bytes {
  readonly #raw: Buffer;
  readonly #ends: Float64Array;
  readonly #nth: Int32Array | undefined;

  constructor(raw: Buffer, ends: Float64Array, nth: Int32Array | undefined) {
    this.#raw = raw;
    this.#ends = ends;
    this.#nth = nth;
  }

  /** A view of a row's bytes; undefined for a row without any. */
  at(row: number): Uint8Array | undefined {
    const nth = this.#nth ? this.#nth[row]! : row;
    return nth < 0 ? undefined : this.#raw.subarray(this.#ends[nth - 1] ?? 0, this.#ends[nth]!);
  }
}

class BytesWriter extends ColumnWriter<Uint8Array> {
  readonly #all: Uint8Array[] = [];
  readonly #sum: TextBytes;

  constructor(sum: TextBytes) {
    super();
    this.#sum = sum;
  }

  put(row: number, bytes: Uint8Array): void {
    this.at(row);
    this.#all.push(bytes);
    this.#sum.storedBytes += bytes.length;
  }

  values(): Part[] {
    return [this.#all.map(({ length }) => length), ...this.#all];
  }
}

/** Bytes: a varint for the length of each value; then the bytes of all. */
export const bytes = (): Column<ColumnWriter<Uint8Array>, Bytes> => ({
  writer: (sum) => new BytesWriter(sum),
  read: (input, count, nth) => {
    let end = 0;
    const ends = input.numbers(count).map((length) => {
      end += length;
      return end;
    });
    return new Bytes(input.raw(end), ends, nth);
  },
});

/** The most bytes of UTF-8 for a UTF-16 unit. */
const mostUnitBytes = 3;

/** The bytes of a column without texts, as most columns of a block are. */
const none = Buffer.alloc(0);

/** Keeps the bytes of texts one after another: a buffer for each was most of the garbage of the thread that plans. */
export class TextWriter extends ColumnWriter<string> {
  readonly #shared: number[] = [];
  readonly #rest: number[] = [];
  readonly #sum: TextBytes;
  #stored = none;
  #storedBytes = 0;
  /** The text before, and room for the next. */
  #before = none;
  #beforeBytes = 0;
  #now = none;

  constructor(sum: TextBytes) {
    super();
    this.#sum = sum;
  }

  put(row: number, text: string): void {
    this.at(row);
    const most = mostUnitBytes * text.length;
    if (this.#now.length < most) this.#now = Buffer.allocUnsafe(Math.max(256, 2 * most));
    const now = this.#now;
    const bytes = now.write(text);
    const before = this.#before;
    const least = Math.min(bytes, this.#beforeBytes);
    let shared = 0;
    while (shared < least && now[shared] === before[shared]) shared++;
    const rest = bytes - shared;
    this.#shared.push(shared);
    this.#rest.push(rest);
    if (this.#storedBytes + rest > this.#stored.length) this.#grow(this.#storedBytes + rest);
    copyBytes(now, shared, bytes, this.#stored, this.#storedBytes);
    this.#storedBytes += rest;
    this.#sum.storedBytes += rest;
    this.#sum.writtenBytes += bytes;
    this.#now = before;
    this.#before = now;
    this.#beforeBytes = bytes;
  }

  values(): Part[] {
    return [this.#shared, this.#rest, this.#stored.subarray(0, this.#storedBytes)];
  }

  /** Bytes of the last text. */
  get lastBytes(): number {
    return this.#beforeBytes;
  }

  /** How many bytes the last text shares with the text before it. */
  get lastShared(): number {
    return this.#shared[this.#shared.length - 1] ?? 0;
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafe(Math.max(2 ** 10, 2 * length));
    this.#stored.copy(larger, 0, 0, this.#storedBytes);
    this.#stored = larger;
  }
}
