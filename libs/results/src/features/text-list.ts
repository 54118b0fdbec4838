import type { EncodedColumn } from './column-page.ts';
import { deltaPack, deltaPackedBytes } from './delta-pack.ts';
import { encodeLevels } from './number-columns.ts';

/** The most bytes that UTF-8 takes for a UTF-16 unit. */
const unitBytes = 3;

/** Texts and nulls. The texts are kept end to end as UTF-8, without an object for each. */
export class TextList {
  #bytes = Buffer.allocUnsafe(2 ** 12);
  #length = 0;
  /** The end of each text. A null has no bytes. */
  #ends = new Uint32Array(2 ** 8);
  /** 1 for each text, 0 for each null. */
  #known = new Uint8Array(2 ** 8);

  get length(): number {
    return this.#length;
  }

  add(text: string | null): void {
    const row = this.#length++;
    if (row === this.#ends.length) this.#growRows();
    const at = this.#start(row);
    this.#known[row] = text === null ? 0 : 1;
    if (text === null) this.#ends[row] = at;
    else {
      this.#reserve(at + unitBytes * text.length);
      this.#ends[row] = at + this.#bytes.write(text, at);
    }
  }

  clear(): void {
    this.#length = 0;
  }

  /**
   * The column with each text `times` times. It may have nulls if `isOptional`. A text is stored as the number of bytes
   * that it shares with the text before, and the rest (DELTA_BYTE_ARRAY), so that the URIs of a folder take few bytes.
   */
  encode(isOptional: boolean, times = 1): EncodedColumn {
    const texts = this.#length;
    let known = 0;
    for (let row = 0; row < texts; row++) known += this.#known[row]!;
    const [values, nulls] = [texts * times, (texts - known) * times];
    const levels = isOptional ? { definitionLevels: encodeLevels(this.#levels(times)) } : {};
    // An encoding of differences needs a first value.
    if (known === 0) return { encoding: 'PLAIN', values, nulls, ...levels, data: new Uint8Array() };
    const bytes = this.#bytes;
    const shared = new Uint32Array(known * times);
    const rest = new Uint32Array(known * times);
    const rests = Buffer.allocUnsafe(this.#start(texts));
    let restBytes = 0;
    let [last, least, largest] = [-1, -1, -1];
    for (let row = 0, at = 0; row < texts; row++) {
      if (this.#known[row] === 0) continue;
      const from = this.#start(row);
      const end = this.#ends[row]!;
      const same = last < 0 ? 0 : this.#sharedBytes(last, row);
      for (let i = from + same; i < end; i++) rests[restBytes++] = bytes[i]!;
      shared[at] = same;
      rest[at] = end - from - same;
      shared.fill(end - from, at + 1, at + times);
      at += times;
      // Texts mostly come in order, so that the largest is the last.
      if (last < 0) least = largest = row;
      else if (largest === last ? this.#isBehind(row, last, same) : this.#isLess(largest, row)) largest = row;
      else if (this.#isLess(row, least)) least = row;
      last = row;
    }
    const encoded = Buffer.allocUnsafe(2 * deltaPackedBytes(values - nulls) + restBytes);
    const view = new DataView(encoded.buffer, encoded.byteOffset, encoded.byteLength);
    const end = deltaPack(rest, values - nulls, view, deltaPack(shared, values - nulls, view, 0));
    const data = encoded.subarray(0, end + rests.copy(encoded, end, 0, restBytes));
    const limits = { least: this.#copyOf(least), largest: this.#copyOf(largest) };
    return { encoding: 'DELTA_BYTE_ARRAY', values, nulls, ...levels, data, limits };
  }

  #levels(times: number): Uint8Array {
    const levels = new Uint8Array(this.#length * times);
    for (let row = 0; row < this.#length; row++) levels.fill(this.#known[row]!, row * times, (row + 1) * times);
    return levels;
  }

  #start(row: number): number {
    return row === 0 ? 0 : this.#ends[row - 1]!;
  }

  /** How many first bytes two texts share. */
  #sharedBytes(row: number, other: number): number {
    const bytes = this.#bytes;
    const from = this.#start(row);
    const otherFrom = this.#start(other);
    const most = Math.min(this.#ends[row]! - from, this.#ends[other]! - otherFrom);
    let same = 0;
    while (same < most && bytes[from + same] === bytes[otherFrom + same]) same++;
    return same;
  }

  /** Whether the first of two texts that share `same` first bytes comes after the other one. */
  #isBehind(row: number, other: number, same: number): boolean {
    const at = this.#start(row) + same;
    const otherAt = this.#start(other) + same;
    if (at === this.#ends[row]) return false;
    return otherAt === this.#ends[other] || this.#bytes[at]! > this.#bytes[otherAt]!;
  }

  #isLess(row: number, other: number): boolean {
    const bytes = this.#bytes;
    const from = this.#start(row);
    const end = this.#ends[row]!;
    const otherFrom = this.#start(other);
    const otherEnd = this.#ends[other]!;
    // The first bytes of texts without order mostly differ.
    if (from < end && otherFrom < otherEnd && bytes[from] !== bytes[otherFrom]) return bytes[from]! < bytes[otherFrom]!;
    return bytes.compare(bytes, otherFrom, otherEnd, from, end) < 0;
  }

  #copyOf(row: number): Uint8Array {
    return Uint8Array.from(this.#bytes.subarray(this.#start(row), this.#ends[row]));
  }

  #growRows(): void {
    const [ends, known] = [this.#ends, this.#known];
    this.#ends = new Uint32Array(2 * ends.length);
    this.#ends.set(ends);
    this.#known = new Uint8Array(2 * known.length);
    this.#known.set(known);
  }

  #reserve(end: number): void {
    if (this.#bytes.length >= end) return;
    const larger = Buffer.allocUnsafe(2 * end);
    this.#bytes.copy(larger);
    this.#bytes = larger;
  }
}
