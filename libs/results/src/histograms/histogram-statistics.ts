import type { Binning } from '@halogrid/kernels';

/** Statistics of the values that a histogram counts. */
export interface HistogramStatistics {
  /** The least and the greatest value, or the ends of their bins. */
  min: number;
  max: number;
  /** The sums of the values and of their squares; absent unless each value has a bin of its own. */
  sum?: bigint;
  sumOfSquares?: bigint;
  mean: number;
  /** The root of the mean of the squared distances from the mean. */
  standardDeviation: number;
}

/**
 * The statistics of a channel; undefined if nothing was counted. If each value has a bin of its own, they are exact,
 * rounded once or twice to a float64. Otherwise each value is taken as the middle of its bin, so the mean is off by at
 * most half the width of a bin.
 */
export function statisticsOf(
  bins: BigUint64Array,
  { first, width, isExact, isOneValue }: Binning,
): HistogramStatistics | undefined {
  let [count, sum, squares] = [0n, 0n, 0n];
  let [lowest, highest] = [0, 0];
  bins.forEach((held, bin) => {
    if (held === 0n) return;
    const place = BigInt(first + bin);
    if (count === 0n) lowest = first + bin;
    highest = first + bin;
    count += held;
    sum += held * place;
    squares += held * place * place;
  });
  if (count === 0n) return undefined;
  const mean = Number(sum) / Number(count);
  const deviation = Math.sqrt(Number(count * squares - sum * sum)) / Number(count);
  if (isOneValue) {
    return { min: lowest, max: highest, sum, sumOfSquares: squares, mean, standardDeviation: deviation };
  }
  // The last integer of a bin is one less than the first of the next bin.
  const last = isExact ? 1 : 0;
  return {
    min: lowest * width,
    max: (highest + 1) * width - last,
    mean: mean * width + (width - last) / 2,
    standardDeviation: deviation * width,
  };
}
