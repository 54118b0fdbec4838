import type { DistanceName } from '../distances/distance-names.ts';

/**
 * How near two vectors are is estimated by a sum of what differs, in float32: where that is little, so is its rounding.
 * Figures are 0 where vectors are alike, and grow as they differ. They decide which vectors are worth scoring by the
 * definition; what is printed and compared is the score.
 */
export interface Estimator {
  /** That of assembly/scan.ts, and of the shaders. */
  readonly program: 'absolute' | 'chiSquare' | 'roots' | 'directions';
  /** What the query's shares become for the program. */
  readonly prepare: (shares: Float64Array) => Float64Array;
  /**
   * What the counts of a vector are multiplied with, by its mass; undefined where that is 1 by the length of the
   * vector.
   */
  readonly scale?: (mass: number) => number;
  /** The figure of vectors that have this score. */
  readonly of: (score: number) => number;
}

const inverse = (mass: number): number => 1 / mass;
const same = (shares: Float64Array): Float64Array => shares;

export const estimators: Readonly<Record<DistanceName, Estimator>> = {
  intersection: { program: 'absolute', prepare: same, scale: inverse, of: (score) => 1 - score },
  l1: { program: 'absolute', prepare: same, scale: inverse, of: (score) => score / 2 },
  chi2: { program: 'chiSquare', prepare: same, scale: inverse, of: (score) => score },
  hellinger: {
    program: 'roots',
    prepare: (shares) => shares.map(Math.sqrt),
    scale: (mass) => Math.sqrt(1 / mass),
    of: (score) => score * score,
  },
  cosine: { program: 'directions', prepare: ofUnitLength, of: (score) => 1 - score },
};

function ofUnitLength(shares: Float64Array): Float64Array {
  const norm = Math.sqrt(shares.reduce((sum, share) => sum + share * share, 0));
  return shares.map((share) => share / norm);
}
