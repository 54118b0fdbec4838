/** Writes numbers and text one after another into bytes that grow. */
export class ByteWriter {
  #bytes: Buffer;
  #length = 0;

  constructor(capacity = 1024) {
    this.#bytes = Buffer.allocUnsafe(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** What was written; valid until more is. */
  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** An integer from 0 to 2^53 - 1 as a varint. */
  uint(value: number): void {
    this.#reserve(8);
    while (value >= 0x80) {
      // `&` takes the lowest 32 bits of any integer, `>>>` would lose the others.
      this.#bytes[this.#length++] = (value & 0x7f) | 0x80;
      value = value < 2 ** 32 ? value >>> 7 : Math.floor(value / 0x80);
    }
    this.#bytes[this.#length++] = value;
  }

  /** An integer from -2^52 to 2^52 - 1, those near zero in few bytes. */
  int(value: number): void {
    this.uint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  text(value: string): void {
    this.#reserve(8 + 3 * value.length);
    const length = Buffer.byteLength(value);
    this.uint(length);
    this.#length += this.#bytes.write(value, this.#length, 'utf8');
  }

  /** Bytes whose number the reader knows. */
  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, this.#length + bytes));
    grown.set(this.bytes);
    this.#bytes = grown;
  }
}
