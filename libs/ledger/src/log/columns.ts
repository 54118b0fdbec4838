/** A column of numbers that grows at its end: 8 bytes each. */
export class NumberColumn {
  #values: Float64Array;
  #length: number;

  /** A column with the values that `bytes` returned. */
  constructor(bytes: Uint8Array = new Uint8Array()) {
    this.#length = bytes.length / 8;
    this.#values = new Float64Array(Math.max(16, this.#length));
    new Uint8Array(this.#values.buffer).set(bytes);
  }

  get length(): number {
    return this.#length;
  }

  at(index: number): number {
    return this.#values[index]!;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) {
      const values = new Float64Array(2 * this.#length);
      values.set(this.#values);
      this.#values = values;
    }
    this.#values[this.#length++] = value;
  }

  set(index: number, value: number): void {
    this.#values[index] = value;
  }

  /** Inserts a value before the one at `index`, or at the end. Takes time proportional to the values behind it. */
  insert(index: number, value: number): void {
    this.push(value);
    this.#values.copyWithin(index + 1, index, this.#length - 1);
    this.#values[index] = value;
  }

  /** Index of the last value that is at most `value`, in an ascending column; -1 if there is no such value. */
  lastUpTo(value: number): number {
    let [low, high] = [0, this.#length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#values[middle]! <= value) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** A copy, in the byte order of every machine that Node runs on. */
  get bytes(): Uint8Array {
    return new Uint8Array(this.#values.slice(0, this.#length).buffer);
  }
}

/** A set of numbers from 0 on, with one bit per number. */
export class Marks {
  #bits: Uint8Array;

  /** The set that `bytes` returned. */
  constructor(bytes: Uint8Array = new Uint8Array(16)) {
    this.#bits = Uint8Array.from(bytes);
  }

  has(number: number): boolean {
    return ((this.#bits[number >>> 3] ?? 0) & (1 << (number & 7))) !== 0;
  }

  set(number: number, isMarked: boolean): void {
    const at = number >>> 3;
    if (at >= this.#bits.length) {
      const bits = new Uint8Array(Math.max(16, 2 * at));
      bits.set(this.#bits);
      this.#bits = bits;
    }
    if (isMarked) this.#bits[at]! |= 1 << (number & 7);
    else this.#bits[at]! &= ~(1 << (number & 7));
  }

  get bytes(): Uint8Array {
    return this.#bits.slice();
  }
}
