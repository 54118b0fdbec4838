/** How heights depend on counts: in proportion, or by their logarithm. */
export type ScaleKind = 'linear' | 'logarithmic';

/** The axis of counts of a panel. */
export interface CountScale {
  /** The height for a count above 0, as a part of the panel's height from 0 to 1. */
  part(count: number): number;
  /** The counts that the axis names, in rising order. */
  ticks: number[];
}

/** If the highest column is this many times the middle one, it flattens the others. */
const flattensFrom = 20;

/**
 * The scale on which counts can be told apart: logarithmic if the highest count is at least 20 times the middle one,
 * where counts of 0 are ignored.
 */
export function scaleKind(counts: readonly number[]): ScaleKind {
  const sorted = counts.filter((count) => count > 0).sort((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return (sorted.at(-1) ?? 0) >= flattensFrom * middle && sorted.length > 1 ? 'logarithmic' : 'linear';
}

/** The axis for counts from 0 on. A logarithmic axis begins at half of the least count above 0. */
export function countScale(kind: ScaleKind, counts: readonly number[]): CountScale {
  const highest = Math.max(1, ...counts);
  if (kind === 'linear') {
    const top = highest * 1.03;
    return { part: (count) => count / top, ticks: axisTicks(top, 6).filter((tick) => tick <= top) };
  }
  const bottom = Math.min(highest, ...counts.filter((count) => count > 0)) / 2;
  const top = highest * (highest / bottom) ** 0.03;
  const part = (count: number) => Math.log(count / bottom) / Math.log(top / bottom);
  return { part, ticks: logarithmicTicks(bottom, top) };
}

/**
 * Values for an axis from 0 to `max` or a little above: 0 and steps of 1, 2 or 5 times a power of ten, integers only.
 */
export function axisTicks(max: number, wanted: number): number[] {
  const rough = Math.max(max, 1) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough)!);
  const ticks = [0];
  while (ticks[ticks.length - 1]! < max || ticks.length < 2) ticks.push(Math.round(ticks.length * step));
  return ticks;
}

/**
 * Values from `min` to `max`, both above 0, for a logarithmic axis: powers of ten. If there are more than 8, only every
 * second, third … is taken; if fewer than 3, also twice and five times the powers. Integers only.
 */
export function logarithmicTicks(min: number, max: number): number[] {
  const powers: number[] = [];
  for (let power = 10 ** Math.max(0, Math.floor(Math.log10(min))); power <= max; power *= 10) powers.push(power);
  const within = (ticks: number[]): number[] => ticks.filter((tick) => tick >= min && tick <= max);
  const tens = within(powers);
  if (tens.length < 3) return within(powers.flatMap((power) => [power, 2 * power, 5 * power]));
  const every = Math.ceil(tens.length / 8);
  return tens.filter((_, i) => i % every === 0);
}

/** A count in few characters: `0`, `750`, `1.5 k`, `20 M`, `3 G`, `1 T`. */
export function shortCount(value: number): string {
  const units = ['', ' k', ' M', ' G', ' T', ' P'];
  const unit = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(value, 1)) / 3)));
  return `${Number((value / 1000 ** unit).toPrecision(3))}${units[unit]}`;
}
