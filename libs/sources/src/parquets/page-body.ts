import { DamagedError } from './damaged-error.ts';

const mostVarintBytes = 5;

/** The bytes of an unpacked page, taken from the front. Throws DamagedError if there are too few. */
export class PageBody {
  readonly bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get at(): number {
    return this.#at;
  }

  get left(): number {
    return this.bytes.length - this.#at;
  }

  byte(): number {
    const byte = this.bytes[this.#at++];
    if (byte === undefined) throw new DamagedError('a page of it ends too early');
    return byte;
  }

  uint32(): number {
    const [a, b, c, d] = [this.byte(), this.byte(), this.byte(), this.byte()];
    return a + 2 ** 8 * b + 2 ** 16 * c + 2 ** 24 * d;
  }

  /** Takes an integer of at most 32 bits. */
  varint(): number {
    let value = 0;
    for (let i = 0; i < mostVarintBytes; i++) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80 && value < 2 ** 32) return value;
    }
    throw new DamagedError('an integer of a page has no end');
  }

  skip(count: number): Uint8Array {
    const start = this.#at;
    this.#at += count;
    if (this.#at > this.bytes.length) throw new DamagedError('a page of it ends too early');
    return this.bytes.subarray(start, this.#at);
  }
}
