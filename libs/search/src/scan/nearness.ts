import type { DistanceName } from '../distances/distance-names.ts';
import type { Bound } from './bound.ts';
import { gpuBound } from './gpu/gpu-bound.ts';

/**
 * A quick figure for how near two vectors are, the larger the nearer, which differs from the true one by less than a bound. It
 * decides which vectors are worth scoring by the definition; what is printed and compared is the score.
 */
export interface Nearness {
  /** The program of assembly/scan.ts that computes it. */
  readonly program: 'intersect' | 'chiSquare' | 'roots' | 'directions';
  /** The nearness of vectors that are alike; how far others are apart is what they lack of it. */
  readonly alike: number;
  /** How far the nearness may be off. */
  readonly bound: Bound;
  /** What the query's shares of the bins, from 0 to 1, become for the program. */
  readonly prepare: (shares: Float64Array) => Float64Array;
  /** What the program multiplies the counts of a vector with, by its mass; absent where it does not. */
  readonly scale?: (mass: number) => number;
  /** The nearness of vectors that have this score. */
  readonly of: (score: number) => number;
}

/** Counts that are summed up in float32, as in assembly/scan.ts. */
const chunk = 64;

/**
 * Those of a GPU, which rounds no better and sums up more counts in float32: next to 0 where vectors hardly differ. With a bound of
 * 2^-17 all frames of a still camera were scored: 64 queries at once took 6 to 17 times as long (measured).
 */
const [chiSquareBound, rootsBound, directionsBound] = [
  gpuBound('chiSquare', chunk),
  gpuBound('roots', chunk),
  gpuBound('directions', chunk),
];

/**
 * How far what vectors have in common may be off. With u = 2^-24, the rounding of a float32: shares are off by 3 u (conversion, scale,
 * product), the terms of a sum by 5 u more at most, and a sum of 64 terms in four lanes of 16 by 16 u; sums of those are float64. In
 * all, it is off by less than 26 u. 2^-17 is 128 u; the rounding of the float64 that define the scores is far below the rest.
 */
const floatBound: Bound = { constant: 2 ** -17, root: 0, share: 0 };

export const nearnesses: Readonly<Record<DistanceName, Nearness>> = {
  intersection: {
    program: 'intersect',
    alike: 1,
    bound: floatBound,
    prepare: (shares) => shares,
    scale: (mass) => 1 / mass,
    of: (score) => score,
  },
  l1: {
    program: 'intersect',
    alike: 1,
    bound: floatBound,
    prepare: (shares) => shares,
    scale: (mass) => 1 / mass,
    of: (score) => 1 - score / 2,
  },
  chi2: {
    program: 'chiSquare',
    alike: 0,
    bound: chiSquareBound,
    prepare: (shares) => shares,
    scale: (mass) => 1 / mass,
    of: (score) => -score,
  },
  hellinger: {
    program: 'roots',
    alike: 0,
    bound: rootsBound,
    prepare: (shares) => shares.map(Math.sqrt),
    scale: (mass) => Math.sqrt(1 / mass),
    of: (score) => -(score * score),
  },
  cosine: { program: 'directions', alike: 0, bound: directionsBound, prepare: ofUnitLength, of: (score) => score - 1 },
};

function ofUnitLength(shares: Float64Array): Float64Array {
  const norm = Math.sqrt(shares.reduce((sum, share) => sum + share * share, 0));
  return shares.map((share) => share / norm);
}
