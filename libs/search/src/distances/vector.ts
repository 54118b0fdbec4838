/**
 * Counts of bins, whole numbers from 0 to 2^53 - 1, and their sum, which is above 0 and at most 2^53 - 1. Distances
 * compare shares: each count divided by `mass`.
 */
export interface Vector {
  readonly bins: VectorCounts;
  readonly mass: number;
}

export type VectorCounts = Uint8Array | Uint16Array | Uint32Array | Float64Array;

/** The sum of all counts. */
export function massOf(bins: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < bins.length; i++) sum += bins[i]!;
  return sum;
}
