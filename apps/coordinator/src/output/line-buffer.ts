import { type TextRange, textOf } from '@halogrid/sources/source-block';

const [quote, backslash, firstPrinted, dot, zero] = [0x22, 0x5c, 0x20, 0x2e, 0x30];
/** Digits that integer instructions put at once; twice as many are enough for any whole number. */
const halfDigits = 9;
const halfLimit = 10 ** halfDigits;
const hexDigits = Buffer.from('0123456789abcdef');

/** A string of UTF-16 units has at most so many bytes of UTF-8 for each. */
const unitBytes = 3;

/**
 * Lines of JSON as bytes. A line that is put together of what lies in columns needs no object, no string of it and no encoding.
 */
export class LineBuffer {
  #bytes = Buffer.allocUnsafe(2 ** 17);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** What was put since the last `clear`; valid until more is put. */
  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  /** Any text, as it is. */
  put(text: string): void {
    this.#reserve(unitBytes * text.length);
    this.#length += this.#bytes.write(text, this.#length);
  }

  /** Bytes, as they are. */
  raw(given: Uint8Array): void {
    this.#reserve(given.length);
    const bytes = this.#bytes;
    const at = this.#length;
    for (let i = 0; i < given.length; i++) bytes[at + i] = given[i]!;
    this.#length = at + given.length;
  }

  /** Text of ASCII, as it is. */
  ascii(text: string): void {
    this.#reserve(text.length);
    const bytes = this.#bytes;
    const at = this.#length;
    for (let i = 0; i < text.length; i++) bytes[at + i] = text.charCodeAt(i);
    this.#length = at + text.length;
  }

  /** A string as JSON has it. */
  text(text: string | TextRange): void {
    if (typeof text === 'string') {
      this.put(JSON.stringify(text));
      return;
    }
    const { bytes: given, from, end } = text;
    this.#reserve(end - from + 2);
    const bytes = this.#bytes;
    let at = this.#length;
    bytes[at++] = quote;
    for (let i = from; i < end; i++) {
      const byte = given[i]!;
      // What JSON escapes is rare.
      if (byte < firstPrinted || byte === quote || byte === backslash) {
        this.text(textOf(text));
        return;
      }
      bytes[at++] = byte;
    }
    bytes[at++] = quote;
    this.#length = at;
  }

  /** A whole number from 0 to 2^53 - 1. */
  number(value: number): void {
    let digits = 1;
    for (let limit = 10; value >= limit; limit *= 10) digits++;
    if (digits <= halfDigits) this.#digits(value, digits);
    else {
      const high = Math.floor(value / halfLimit);
      this.#digits(high, digits - halfDigits);
      this.#digits(value - high * halfLimit, halfDigits);
    }
  }

  /** Any number that is finite. One of thousandths with 15 digits at most is put without a string of it, as times of files often are. */
  decimal(value: number): void {
    const thousandths = value * 1000;
    if (!(value >= 0 && thousandths < 1e15 && Number.isInteger(thousandths) && thousandths / 1000 === value)) {
      this.ascii(String(value));
      return;
    }
    const whole = Math.floor(value);
    this.number(whole);
    const rest = thousandths - 1000 * whole;
    if (rest === 0) return;
    this.#reserve(1);
    this.#bytes[this.#length++] = dot;
    this.#digits(rest, 3);
    while (this.#bytes[this.#length - 1] === zero) this.#length--;
  }

  /** The last digits of a number below 2^31. */
  #digits(value: number, digits: number): void {
    this.#reserve(digits);
    const bytes = this.#bytes;
    let rest = value | 0;
    for (let at = this.#length + digits - 1; at >= this.#length; at--) {
      const tens = (rest / 10) | 0;
      bytes[at] = zero + rest - 10 * tens;
      rest = tens;
    }
    this.#length += digits;
  }

  /** Bytes from one place up to another, which is left out, as a string of hexadecimal digits. */
  hex(given: Uint8Array, from: number, end: number): void {
    this.#reserve(2 * (end - from) + 2);
    const bytes = this.#bytes;
    let at = this.#length;
    bytes[at++] = quote;
    for (let i = from; i < end; i++) {
      const byte = given[i]!;
      bytes[at++] = hexDigits[byte >> 4]!;
      bytes[at++] = hexDigits[byte & 15]!;
    }
    bytes[at++] = quote;
    this.#length = at;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(2 * (this.#length + more));
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }
}
