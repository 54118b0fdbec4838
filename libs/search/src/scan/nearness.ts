import type { DistanceName } from '../distances/distance-names.ts';

/**
 * A quick figure for how near two vectors are, the larger the nearer, which differs from the true one by less than a bound. It
 * decides which vectors are worth scoring by the definition; what is printed and compared is the score.
 */
export interface Nearness {
  /** The program of assembly/scan.ts that computes it. */
  readonly program: 'intersect' | 'chiSquare' | 'affinity' | 'cosine';
  /** What the query's shares of the bins, from 0 to 1, become for the program. */
  readonly prepare: (shares: Float64Array) => Float64Array;
  /** What the program multiplies the counts of a vector with, by its mass; absent where it does not. */
  readonly scale?: (mass: number) => number;
  /** The nearness of vectors that have this score. */
  readonly of: (score: number) => number;
}

/**
 * How far the figures may be off. With u = 2^-24, the rounding of a float32: shares are off by 3 u (conversion, scale, product),
 * the terms of a sum by 5 u more at most, and a sum of 64 terms in four lanes of 16 by 16 u; sums of those are float64. In all,
 * intersection and affinity are off by less than 26 u, cosine by 33 u, and chi-square by 33 u, where a change of a share counts up
 * to three times. 2^-17 is 128 u; the rounding of the float64 that define the scores is far below the rest.
 */
export const floatBound = 2 ** -17;

/** The same for sums of whole numbers below 2^32 that are divided by their mass in float64. */
export const integerBound = 2 ** -40;

export const nearnesses: Readonly<Record<DistanceName, Nearness>> = {
  intersection: {
    program: 'intersect',
    prepare: (shares) => shares,
    scale: (mass) => 1 / mass,
    of: (score) => score,
  },
  l1: { program: 'intersect', prepare: (shares) => shares, scale: (mass) => 1 / mass, of: (score) => 1 - score / 2 },
  chi2: { program: 'chiSquare', prepare: (shares) => shares, scale: (mass) => 1 / mass, of: (score) => -score },
  hellinger: {
    program: 'affinity',
    prepare: (shares) => shares.map(Math.sqrt),
    scale: (mass) => Math.sqrt(1 / mass),
    of: (score) => 1 - score * score,
  },
  cosine: { program: 'cosine', prepare: ofUnitLength, of: (score) => score },
};

function ofUnitLength(shares: Float64Array): Float64Array {
  const norm = Math.sqrt(shares.reduce((sum, share) => sum + share * share, 0));
  return shares.map((share) => share / norm);
}
