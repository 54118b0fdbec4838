import { type HuffmanTable, lookUp } from './huffman-table.ts';

/**
 * Bits of the difference of a DC coefficient, and of an AC coefficient, of 8-bit samples at most: ITU-T T.81, tables
 * F.1 and F.2.
 */
const [maxDcSize, maxAcSize] = [11, 10];

/** The bits of entropy-coded data, up to a marker or the end of the file. */
export class ScanBits {
  readonly #bytes: Uint8Array;
  /** The next byte that is not in `#bits`. */
  #at: number;
  /** The last bits are the next ones, `#count` of them. */
  #bits = 0;
  #count = 0;
  /** More bits were asked for than there are, or there is no such code, size or coefficient. */
  isBad = false;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** Where the first byte is that has all of its bits left. */
  get end(): number {
    let at = this.#at;
    for (let whole = this.#count >> 3; whole > 0; whole--) at -= this.#isStuffed(at - 2) ? 2 : 1;
    return at;
  }

  /** Whether fewer bits than a byte has are left, each of them 1, as encoders fill up the last byte. */
  get isUsedUp(): boolean {
    this.#fill();
    const rest = (1 << this.#count) - 1;
    return this.#count < 8 && (this.#bits & rest) === rest;
  }

  /**
   * Whether the bits behind those taken fill up their byte as encoders do it: all of them 1, as the standard has it, or
   * 0.
   */
  get isFilledUp(): boolean {
    const count = this.#count & 7;
    const ones = (1 << count) - 1;
    const bits = (this.#bits >> (this.#count - count)) & ones;
    return bits === ones || bits === 0;
  }

  /** Passes over a block. */
  skipBlock(dc: HuffmanTable, ac: HuffmanTable): void {
    this.#skipValue(this.#symbol(dc), maxDcSize);
    for (let k = 1; k < 64 && !this.isBad; k++) {
      const symbol = this.#symbol(ac);
      const [run, size] = [symbol >> 4, symbol & 15];
      if (size === 0 && run < 15) return;
      k += run;
      if (k >= 64) this.isBad = true;
      this.#skipValue(size, maxAcSize);
    }
  }

  #skipValue(size: number, most: number): void {
    if (size > most) this.isBad = true;
    this.#skip(size);
  }

  #symbol(table: HuffmanTable): number {
    this.#fill();
    const next = this.#count < 16 ? this.#bits << (16 - this.#count) : this.#bits >> (this.#count - 16);
    const found = lookUp(table, next & 0xffff);
    if (found === 0) this.isBad = true;
    this.#skip(found & 31);
    return found >> 8;
  }

  /** 16 bits at most. */
  #skip(bits: number): void {
    if (bits > this.#count) this.#fill();
    if (bits > this.#count) this.isBad = true;
    this.#count = Math.max(0, this.#count - bits);
  }

  /** 16 bits or more, where there are as many. */
  #fill(): void {
    while (this.#count <= 16) {
      const byte = this.#bytes[this.#at];
      const isStuffed = this.#isStuffed(this.#at);
      if (byte === undefined || (byte === 0xff && !isStuffed)) return;
      this.#at += isStuffed ? 2 : 1;
      this.#bits = ((this.#bits & 0xffff) << 8) | byte;
      this.#count += 8;
    }
  }

  /** A byte FF of the data has a byte 0 behind it, which is none of it. */
  #isStuffed(at: number): boolean {
    return this.#bytes[at] === 0xff && this.#bytes[at + 1] === 0;
  }
}
