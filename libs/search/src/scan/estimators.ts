import type { DistanceName } from '../distances/distance-names.ts';

/**
 * A way to estimate how near two vectors are: a sum of differences in float32. If these are small, so is the rounding.
 * Figures are 0 for equal vectors, and grow as they differ. They decide which vectors are worth scoring by the
 * definition; only scores are printed and compared.
 */
export interface Estimator {
  /** The program's name in assembly/scan.ts and in the shaders. */
  readonly program: 'absolute' | 'chiSquare' | 'roots' | 'directions';
  /** Makes the program's input from the query's shares. */
  readonly prepare: (shares: Float64Array) => Float64Array;
  /** The factor of a vector's counts, by its mass; undefined if the program makes the length of vectors 1 itself. */
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
