/** The median absolute deviation of a normal distribution times this is its standard deviation. */
const perDeviation = 1.4826;

/** The least deviation: if all values are equal, the next may still differ by a rounding. */
const leastDeviation = 0.002;

/**
 * The last values of one quantity, and their usual range: median and median absolute deviation. The values are kept in
 * order: sorting them for each question took two fifths of the time of finding changes (measured, with a value a second
 * for each cell).
 */
export class UsualRange {
  /** The last values as they came; each takes the place of the oldest. */
  readonly #values: Float32Array;
  /** The same values, ascending. */
  readonly #sorted: Float32Array;
  #count = 0;
  #usual: { median: number; deviation: number } | undefined;

  constructor(size: number) {
    this.#values = new Float32Array(size);
    this.#sorted = new Float32Array(size);
  }

  get count(): number {
    return this.#count;
  }

  add(value: number): void {
    const at = this.#count++ % this.#values.length;
    const isFull = this.#count > this.#values.length;
    let place = isFull ? lowerBound(this.#sorted, this.#values.length, this.#values[at]!) : at;
    this.#values[at] = value;
    const [sorted, last, rounded] = [this.#sorted, isFull ? this.#values.length - 1 : at, this.#values[at]!];
    for (; place > 0 && sorted[place - 1]! > rounded; place--) sorted[place] = sorted[place - 1]!;
    for (; place < last && sorted[place + 1]! < rounded; place++) sorted[place] = sorted[place + 1]!;
    sorted[place] = rounded;
    this.#usual = undefined;
  }

  /** The limit of the usual values: the median plus `times` standard deviations, estimated by the median deviation. */
  limit(times: number): number {
    const { median, deviation } = this.#range();
    return median + times * deviation;
  }

  get median(): number {
    return this.#range().median;
  }

  /** The standard deviation, estimated by the median deviation as for a normal distribution. */
  get deviation(): number {
    return this.#range().deviation;
  }

  #range(): { median: number; deviation: number } {
    if (this.#usual) return this.#usual;
    const count = Math.min(this.#count, this.#values.length);
    const median = middleOf(this.#sorted, count);
    const deviation = perDeviation * medianDeviation(this.#sorted, count, median);
    this.#usual = { median, deviation: Math.max(leastDeviation, deviation) };
    return this.#usual;
  }
}

/** The index of the first of `count` ascending values that is not less than `value`. */
function lowerBound(sorted: Float32Array, count: number, value: number): number {
  let [from, to] = [0, count];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle]! < value) from = middle + 1;
    else to = middle;
  }
  return from;
}

/**
 * The median of the distances of `count` ascending values from their median, as float32. They grow from the middle
 * outwards.
 */
function medianDeviation(sorted: Float32Array, count: number, median: number): number {
  let right = lowerBound(sorted, count, median);
  let left = right - 1;
  let [previous, deviation] = [0, 0];
  for (let rank = 0; rank <= count >> 1; rank++) {
    const [below, above] = [
      median - (sorted[left] ?? Number.NEGATIVE_INFINITY),
      right < count ? sorted[right]! - median : Number.POSITIVE_INFINITY,
    ];
    previous = deviation;
    deviation = Math.fround(below < above ? below : above);
    if (below < above) left--;
    else right++;
  }
  return count % 2 ? deviation : (previous + deviation) / 2;
}

function middleOf(sorted: Float32Array, count: number): number {
  const middle = count >> 1;
  return count % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The median of at least one value; sorts `values`. */
export const medianOf = (values: Float32Array): number => middleOf(values.sort(), values.length);
