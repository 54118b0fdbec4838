import type { EncodedColumn } from './column-page.ts';
import { deltaPack, deltaPackedBytes } from './delta-pack.ts';
import { encodeLevels } from './number-columns.ts';

/** UTF-8 has at most so many bytes for a UTF-16 unit. */
const unitBytes = 3;

/** Texts one after another as UTF-8, without objects. */
export class TextList {
  #bytes = Buffer.allocUnsafe(2 ** 12);
  /** Where each ends; a null has no bytes. */
  readonly #ends: number[] = [];
  /** A byte a text: 0 for a null. */
  readonly #known: number[] = [];

  get length(): number {
    return this.#ends.length;
  }

  add(text: string | null): void {
    const at = this.#ends.at(-1) ?? 0;
    this.#known.push(text === null ? 0 : 1);
    if (text === null) this.#ends.push(at);
    else {
      this.#reserve(at + unitBytes * text.length);
      this.#ends.push(at + this.#bytes.write(text, at));
    }
  }

  clear(): void {
    this.#ends.length = 0;
    this.#known.length = 0;
  }

  /**
   * The column that has each text `times` times, which may have nulls where it is optional. A text is stored as the bytes that it has in common
   * with the one before it and the rest (DELTA_BYTE_ARRAY), so that the URIs of a folder take few.
   */
  encode(isOptional: boolean, times = 1): EncodedColumn {
    const texts = this.#ends.length;
    const known = this.#known.reduce((sum, one) => sum + one, 0);
    const [values, nulls] = [texts * times, (texts - known) * times];
    const levels = isOptional ? { definitionLevels: encodeLevels(this.#levels(times)) } : {};
    // An encoding of differences needs a first value.
    if (known === 0) return { encoding: 'PLAIN', values, nulls, ...levels, data: new Uint8Array() };
    const bytes = this.#bytes;
    const shared: number[] = [];
    const rest: number[] = [];
    const rests = Buffer.allocUnsafe(this.#ends[texts - 1]!);
    let restBytes = 0;
    let last: Span = [0, 0];
    let [least, largest] = [last, last];
    for (let text = 0, from = 0; text < texts; text++) {
      const end = this.#ends[text]!;
      if (this.#known[text] === 0) continue;
      const span: Span = [from, end];
      const same = sharedBytes(bytes, last, span);
      for (let i = from + same; i < end; i++) rests[restBytes++] = bytes[i]!;
      shared.push(same);
      rest.push(end - from - same);
      for (let i = 1; i < times; i++) {
        shared.push(end - from);
        rest.push(0);
      }
      // Texts mostly come in order, so that the largest is the last.
      const isFirst = shared.length === times;
      if (isFirst || (largest === last ? isBehind(bytes, span, last, same) : isLess(bytes, largest, span)))
        largest = span;
      else if (isLess(bytes, span, least)) least = span;
      if (isFirst) least = span;
      last = span;
      from = end;
    }
    const encoded = Buffer.allocUnsafe(2 * deltaPackedBytes(values - nulls) + restBytes);
    const view = new DataView(encoded.buffer, encoded.byteOffset, encoded.byteLength);
    const end = deltaPack(rest, values - nulls, view, deltaPack(shared, values - nulls, view, 0));
    const data = encoded.subarray(0, end + rests.copy(encoded, end, 0, restBytes));
    const limits = { least: bytesOf(bytes, least), largest: bytesOf(bytes, largest) };
    return { encoding: 'DELTA_BYTE_ARRAY', values, nulls, ...levels, data, limits };
  }

  #levels(times: number): ArrayLike<number> {
    return times === 1 ? this.#known : this.#known.flatMap((one) => Array<number>(times).fill(one));
  }

  #reserve(end: number): void {
    if (this.#bytes.length >= end) return;
    const larger = Buffer.allocUnsafe(2 * end);
    this.#bytes.copy(larger);
    this.#bytes = larger;
  }
}

/** Where a text begins and ends. */
type Span = readonly [number, number];

/** Bytes that two texts begin with. */
function sharedBytes(bytes: Buffer, [from, end]: Span, [nextFrom, nextEnd]: Span): number {
  const most = Math.min(end - from, nextEnd - nextFrom);
  let same = 0;
  while (same < most && bytes[from + same] === bytes[nextFrom + same]) same++;
  return same;
}

/** Whether the first of two texts that begin with `same` equal bytes comes behind the other one. */
function isBehind(bytes: Buffer, [from, end]: Span, [otherFrom, otherEnd]: Span, same: number): boolean {
  if (otherFrom + same === otherEnd) return from + same < end;
  return from + same < end && bytes[from + same]! > bytes[otherFrom + same]!;
}

const isLess = (bytes: Buffer, [from, end]: Span, [otherFrom, otherEnd]: Span): boolean =>
  bytes.compare(bytes, otherFrom, otherEnd, from, end) < 0;

/** A copy. */
const bytesOf = (bytes: Buffer, [from, end]: Span): Uint8Array => Uint8Array.from(bytes.subarray(from, end));
