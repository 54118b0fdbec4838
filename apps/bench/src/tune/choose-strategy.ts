import { spreadOf } from '../timing/statistics.ts';

/** The part of the default's time that another strategy must save, beyond the spread of both. */
const leastGain = 0.03;

/** Repeated measurements without their extremes. */
export interface Quartiles {
  lower: number;
  median: number;
  upper: number;
}

/** The quartiles of at least one value: the measured values at the ends of the middle half. */
export function quartilesOf(values: readonly number[]): Quartiles {
  const sorted = values.toSorted((a, b) => a - b);
  const last = sorted.length - 1;
  return {
    lower: sorted[Math.floor(last / 4)]!,
    median: spreadOf(sorted).median,
    upper: sorted[Math.ceil((3 * last) / 4)]!,
  };
}

/**
 * The index of the strategy to use; index 0 is the default. Another strategy replaces it only if it is clearly faster:
 * its upper quartile is at least 3 % below the lower quartile of the default. The lowest median of these wins.
 */
export function chooseStrategy(times: readonly Quartiles[]): number {
  const limit = times[0]!.lower * (1 - leastGain);
  let chosen = 0;
  for (const [i, { median, upper }] of times.entries()) {
    if (upper <= limit && median < times[chosen]!.median) chosen = i;
  }
  return chosen;
}
