import type { DistanceName } from '../../distances/distance-names.ts';
import type { Vector } from '../../distances/vector.ts';
import type { GpuProgramName } from './nearness-shader.ts';

/** Sums of whole numbers are exact as long as they are below it: float32 has all of them up to here. */
const exactSums = 2 ** 24;

/** How a GPU estimates a distance. All figures here are 0 where two vectors are alike, and grow as they differ. */
export interface GpuEstimate {
  readonly program: Exclude<GpuProgramName, 'shared'>;
  /** What the query's shares become for the program. */
  readonly prepare: (shares: Float64Array) => Float64Array;
  /** What the counts of a vector are multiplied with, by its mass; undefined where that is 1 by the length of the vector. */
  readonly scale?: (mass: number) => number;
  /** The figure of vectors that have this score. */
  readonly of: (score: number) => number;
}

const inverse = (mass: number): number => 1 / mass;
const same = (shares: Float64Array): Float64Array => shares;

export const gpuEstimates: Readonly<Record<DistanceName, GpuEstimate>> = {
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

/**
 * The program that estimates for all of the queries: with whole numbers where what they have in common with every vector is a sum of
 * counts. `mass` is that of all vectors that count anything, undefined where they differ.
 */
export function gpuProgram(name: DistanceName, queries: readonly Vector[], mass: number | undefined): GpuProgramName {
  const { program } = gpuEstimates[name];
  const isShared = mass !== undefined && mass < exactSums && queries.every((query) => query.mass === mass);
  return program === 'absolute' && isShared ? 'shared' : program;
}
