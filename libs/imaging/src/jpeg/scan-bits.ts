import { type HuffmanTable, lookUp } from './huffman-table.ts';

/**
 * The most bits of a DC difference and of an AC coefficient, for 8-bit samples: ITU-T T.81, tables F.1 and F.2.
 */
const [maxDcSize, maxAcSize] = [11, 10];

/** The bits of entropy-coded data, up to a marker or the end of the file. */
export class ScanBits {
  readonly #bytes: Uint8Array;
  /** The place of the next byte that is not in `#bits`. */
  #at: number;
  /** The lowest `#count` bits are the next ones to take. */
  #bits = 0;
  #count = 0;
  /** More bits were needed than there are, or a code, size or coefficient does not exist. */
  isBad = false;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** The place of the first byte whose bits are all left. */
  get end(): number {
    let at = this.#at;
    for (let whole = this.#count >> 3; whole > 0; whole--) at -= this.#isStuffed(at - 2) ? 2 : 1;
    return at;
  }

  /** Whether less than a byte is left, with all bits 1, as encoders fill up the last byte. */
  get isUsedUp(): boolean {
    this.#fill();
    const rest = (1 << this.#count) - 1;
    return this.#count < 8 && (this.#bits & rest) === rest;
  }

  /**
   * Whether the rest of the current byte is filled up as encoders do it: with bits of 1, as the standard demands, or
   * of 0.
   */
  get isFilledUp(): boolean {
    const count = this.#count & 7;
    const ones = (1 << count) - 1;
    const bits = (this.#bits >> (this.#count - count)) & ones;
    return bits === ones || bits === 0;
  }

  /** Skips a block. */
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

  /** Skips 16 bits at most. */
  #skip(bits: number): void {
    if (bits > this.#count) this.#fill();
    if (bits > this.#count) this.isBad = true;
    this.#count = Math.max(0, this.#count - bits);
  }

  /** Fills `#bits` up to 16 bits or more, if there are as many. */
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

  /** In the data, each FF byte is followed by a 0 byte that does not belong to the data. */
  #isStuffed(at: number): boolean {
    return this.#bytes[at] === 0xff && this.#bytes[at + 1] === 0;
  }
}
