/** The median absolute deviation of a normal distribution times this is its standard deviation. */
const perDeviation = 1.4826;

/** No deviation is taken for smaller: where all values are equal, the next may differ by a rounding. */
const leastDeviation = 0.002;

/** The last values of one quantity, and what of them is usual: their median and their median absolute deviation. */
export class UsualRange {
  readonly #values: Float32Array;
  #count = 0;
  #usual: { median: number; deviation: number } | undefined;

  constructor(size: number) {
    this.#values = new Float32Array(size);
  }

  get count(): number {
    return this.#count;
  }

  add(value: number): void {
    this.#values[this.#count++ % this.#values.length] = value;
    this.#usual = undefined;
  }

  /** The value that one which is not usual exceeds: the median and `times` standard deviations, as the median deviation tells them. */
  limit(times: number): number {
    const { median, deviation } = this.#range();
    return median + times * deviation;
  }

  get median(): number {
    return this.#range().median;
  }

  /** By the median deviation, as for a normal distribution. */
  get deviation(): number {
    return this.#range().deviation;
  }

  #range(): { median: number; deviation: number } {
    if (this.#usual) return this.#usual;
    const values = this.#values.slice(0, this.#count);
    const median = medianOf(values);
    const deviation = perDeviation * medianOf(values.map((value) => Math.abs(value - median)));
    this.#usual = { median, deviation: Math.max(leastDeviation, deviation) };
    return this.#usual;
  }
}

/** The median; sorts the values, of which there is at least one. */
export function medianOf(values: Float32Array): number {
  values.sort();
  const middle = values.length >> 1;
  return values.length % 2 ? values[middle]! : (values[middle - 1]! + values[middle]!) / 2;
}
