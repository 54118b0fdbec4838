import { commonDivisor, type Fraction } from './fraction.ts';
import type { Vector } from './vector.ts';

/**
 * What two histograms have in common, exactly: sum(min(a_i / A, b_i / B)) with the masses A and B. Both are brought to
 * one denominator, the least common multiple of the masses; if these are equal, it is sum(min(a_i, b_i)) / A.
 */
export function commonPart(a: Vector, b: Vector): Fraction {
  const divisor = commonDivisor(a.mass, b.mass);
  const [timesA, timesB] = [b.mass / divisor, a.mass / divisor];
  if (a.mass * timesA > Number.MAX_SAFE_INTEGER) return largeCommonPart(a, b, BigInt(timesA), BigInt(timesB));
  let numerator = 0;
  for (let i = 0; i < a.bins.length; i++) numerator += Math.min(a.bins[i]! * timesA, b.bins[i]! * timesB);
  return { numerator, denominator: a.mass * timesA };
}

function largeCommonPart(a: Vector, b: Vector, timesA: bigint, timesB: bigint): Fraction {
  let numerator = 0n;
  for (let i = 0; i < a.bins.length; i++) {
    if (a.bins[i] === 0 || b.bins[i] === 0) continue;
    const [ours, theirs] = [BigInt(a.bins[i]!) * timesA, BigInt(b.bins[i]!) * timesB];
    numerator += ours < theirs ? ours : theirs;
  }
  return { numerator, denominator: BigInt(a.mass) * timesA };
}
