import type { DistanceName } from '../distances/distance-names.ts';
import type { Bound } from './bound.ts';
import { gpuBound } from './gpu/gpu-bound.ts';

/**
 * A quick figure for how near two vectors are, 0 less how far they are apart, which differs from the true one by less than a bound. It
 * decides which vectors are worth scoring by the definition; what is printed and compared is the score.
 */
export interface Nearness {
  /** The program of assembly/scan.ts that computes it. */
  readonly program: 'absolute' | 'chiSquare' | 'roots' | 'directions';
  /** How far the figure may be off. */
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
 * The bounds are those of a GPU, which rounds no better and sums up more counts in float32: next to 0 where vectors hardly differ. With
 * one bound for all, of 2^-17, all frames of a still camera were scored: queries took 6 to 17 times as long (measured).
 */
const bounds = {
  absolute: gpuBound('absolute', chunk),
  chiSquare: gpuBound('chiSquare', chunk),
  roots: gpuBound('roots', chunk),
  directions: gpuBound('directions', chunk),
};

const inverse = (mass: number): number => 1 / mass;
const same = (shares: Float64Array): Float64Array => shares;

export const nearnesses: Readonly<Record<DistanceName, Nearness>> = {
  intersection: {
    program: 'absolute',
    bound: bounds.absolute,
    prepare: same,
    scale: inverse,
    of: (score) => score - 1,
  },
  l1: { program: 'absolute', bound: bounds.absolute, prepare: same, scale: inverse, of: (score) => -score / 2 },
  chi2: { program: 'chiSquare', bound: bounds.chiSquare, prepare: same, scale: inverse, of: (score) => -score },
  hellinger: {
    program: 'roots',
    bound: bounds.roots,
    prepare: (shares) => shares.map(Math.sqrt),
    scale: (mass) => Math.sqrt(1 / mass),
    of: (score) => -(score * score),
  },
  cosine: { program: 'directions', bound: bounds.directions, prepare: ofUnitLength, of: (score) => score - 1 },
};

function ofUnitLength(shares: Float64Array): Float64Array {
  const norm = Math.sqrt(shares.reduce((sum, share) => sum + share * share, 0));
  return shares.map((share) => share / norm);
}
