/** Places of values on an axis, from 0 (its beginning) to 1, and the values that have ticks. */
export interface AxisScale {
  place(value: number): number;
  ticks: number[];
}

/** From 0 to the largest value, or a little above. */
export function linearScale(values: readonly number[], wanted: number): AxisScale {
  const max = Math.max(...values, Number.MIN_VALUE);
  const power = 10 ** Math.floor(Math.log10(max / wanted));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => max / candidate <= wanted)!;
  const count = Math.ceil(max / step - 1e-9);
  // Multiples are cut to what a step has of decimals, against 0.30000000000000004.
  const ticks = Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(12)));
  return { place: (value) => value / (count * step), ticks };
}

/**
 * A scale for values above 0: from one round number to another, with several in each power of ten where powers are few.
 */
export function log10Scale(values: readonly number[]): AxisScale {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const powers = Math.log10(high / low);
  const factors = powers < 0.7 ? [1, 1.5, 2, 3, 5, 7] : powers < 3 ? [1, 2, 5] : [1];
  const candidates: number[] = [];
  // One power more at either end, as logarithms of numbers beside a power of ten are rounded to it.
  for (let power = Math.floor(Math.log10(low)) - 1; power <= Math.ceil(Math.log10(high)) + 1; power++) {
    for (const factor of factors) candidates.push(Number((factor * 10 ** power).toPrecision(3)));
  }
  const first = candidates.findLastIndex((tick) => tick <= low);
  const last = candidates.findIndex((tick, i) => tick >= high && i > first);
  const ticks = candidates.slice(first, last + 1);
  const [from, to] = [Math.log10(ticks[0]!), Math.log10(ticks.at(-1)!)];
  return { place: (value) => (Math.log10(value) - from) / (to - from), ticks };
}

/** The least part of the axis between two ticks, so that their labels do not touch. */
const tickDistance = 0.06;

/** A scale for values above 0. Each value has a tick, unless the next tick is too near. */
export function log2Scale(values: readonly number[]): AxisScale {
  const sorted = [...new Set(values)].sort((a, b) => a - b);
  const [from, to] = [Math.log2(sorted[0]!), Math.log2(sorted.at(-1)!)];
  const place = (value: number) => (to > from ? (Math.log2(value) - from) / (to - from) : 0.5);
  const ticks: number[] = [];
  for (const value of sorted.toReversed()) {
    if (ticks.length === 0 || place(ticks[0]!) - place(value) >= tickDistance) ticks.unshift(value);
  }
  return { place, ticks };
}

/** A number in few characters. */
export function shortNumber(value: number): string {
  if (value >= 1e6 || (value > 0 && value < 1e-4)) return value.toExponential(0).replace('e+', 'e');
  return String(Number(value.toPrecision(value >= 100 ? 4 : 3)));
}
