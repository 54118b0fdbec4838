/** Reads what a ByteWriter wrote. Every method throws RangeError where the bytes end early. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length;
  }

  uint(): number {
    let byte = this.#byte();
    let value = byte & 0x7f;
    for (let scale = 0x80; byte >= 0x80; scale *= 0x80) {
      byte = this.#byte();
      value += (byte & 0x7f) * scale;
    }
    if (!Number.isSafeInteger(value)) throw new RangeError('A number is too large');
    return value;
  }

  int(): number {
    const value = this.uint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  text(): string {
    const length = this.uint();
    return this.#bytes.toString('utf8', this.#at, this.#skip(length));
  }

  /** A view of that many bytes. */
  raw(length: number): Uint8Array {
    return this.#bytes.subarray(this.#at, this.#skip(length));
  }

  #byte(): number {
    if (this.isAtEnd) throw new RangeError('The bytes end early');
    return this.#bytes[this.#at++]!;
  }

  #skip(length: number): number {
    if (!(this.#at + length <= this.#bytes.length)) throw new RangeError('The bytes end early');
    this.#at += length;
    return this.#at;
  }
}
