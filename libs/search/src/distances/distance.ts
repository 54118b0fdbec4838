import type { DistanceName } from './distance-names.ts';
import { chiSquare, cosine, hellinger } from './float-sums.ts';
import { commonDivisor, compareFractions, type Fraction, nearestFloat } from './fraction.ts';
import type { Vector } from './vector.ts';

/** How near two histograms are. */
export interface Score {
  /** What is printed: the score itself, or the float64 nearest to its fraction. */
  readonly value: number;
  /** The exact score, if the distance has one. */
  readonly fraction?: Fraction;
}

/** A way to compare the shares of two vectors of equal length; its definition is its function. */
export interface Distance {
  /** The largest score is the best similarity, the smallest the best distance. */
  readonly sense: 'similarity' | 'distance';
  /** The score from the common part of two vectors, for distances that depend on nothing else. */
  ofCommon?(part: Fraction): Score;
  /** The same whichever vector comes first. */
  score(a: Vector, b: Vector): Score;
}

const exact = (fraction: Fraction): Score => ({ value: nearestFloat(fraction), fraction });

/**
 * The distances by name; p and q are the shares of a bin. docs/retrieval.md has the formulas and where they come from:
 *   intersection  sum(min(p, q)), from 0 to 1 (Swain and Ballard, "Color indexing", 1991), exact
 *   l1            sum(|p - q|), from 0 to 2, which is 2 less twice the intersection, exact
 *   chi2, hellinger, cosine   float-sums.ts
 */
export const distances: Readonly<Record<DistanceName, Distance>> = {
  intersection: { sense: 'similarity', ofCommon: exact, score: (a, b) => exact(commonPart(a, b)) },
  chi2: { sense: 'distance', score: (a, b) => ({ value: chiSquare(a, b) }) },
  l1: {
    sense: 'distance',
    ofCommon: (part) => exact(restOf(part)),
    score: (a, b) => exact(restOf(commonPart(a, b))),
  },
  hellinger: { sense: 'distance', score: (a, b) => ({ value: hellinger(a, b) }) },
  cosine: { sense: 'similarity', score: (a, b) => ({ value: cosine(a, b) }) },
};

/**
 * What two histograms have in common, exactly: sum(min(a_i / A, b_i / B)) with the masses A and B. Both are brought to
 * one denominator, the least common multiple of the masses; if these are equal, it is sum(min(a_i, b_i)) / A.
 */
function commonPart(a: Vector, b: Vector): Fraction {
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

/** 2 less twice a fraction of at most 1. */
function restOf({ numerator, denominator }: Fraction): Fraction {
  if (typeof numerator === 'bigint')
    return { numerator: 2n * (BigInt(denominator) - numerator), denominator: BigInt(denominator) };
  const rest = Number(denominator) - numerator;
  if (2 * rest <= Number.MAX_SAFE_INTEGER) return { numerator: 2 * rest, denominator: Number(denominator) };
  return { numerator: 2n * BigInt(rest), denominator: BigInt(denominator) };
}

/** Below 0 if `a` is the better score in that sense, above 0 if `b` is, 0 if they are equal. */
export function compareScores(sense: Distance['sense'], a: Score, b: Score): number {
  if (sense === 'similarity') return compareScores('distance', b, a);
  return a.value - b.value || (a.fraction && b.fraction ? compareFractions(a.fraction, b.fraction) : 0);
}
