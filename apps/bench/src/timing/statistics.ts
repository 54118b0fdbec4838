/** Repeated measurements in five numbers. */
export interface Spread {
  mean: number;
  median: number;
  /** Standard deviation of the sample (n - 1); 0 for a single value. */
  stdev: number;
  min: number;
  max: number;
}

/** The spread of at least one value; the median of an even number is the mean of the middle two. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const median = (sorted[Math.ceil(half) - 1]! + sorted[Math.floor(half)]!) / 2;
  const mean = sorted.reduce((sum, value) => sum + value, 0) / sorted.length;
  const squares = sorted.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const stdev = Math.sqrt(squares / Math.max(1, sorted.length - 1));
  return { mean, median, stdev, min: sorted[0]!, max: sorted[sorted.length - 1]! };
}
