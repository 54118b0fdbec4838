/** Median and extremes of repeated measurements. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

/** Of at least one value; the median of an even number is the mean of the middle two. */
export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  const median = (sorted[Math.ceil(half) - 1]! + sorted[Math.floor(half)]!) / 2;
  return { median, min: sorted[0]!, max: sorted[sorted.length - 1]! };
}
