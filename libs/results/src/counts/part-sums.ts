import { varintsLength, writeVarints } from '@halogrid/proto/varints';

/**
 * Sums over sources: pixels counted in each channel, a whole number of any size, and the counts of all cells, as
 * varints.
 */
export interface PartSums {
  counted: string;
  sums: Uint8Array;
}

/** Packs the sums of a fact. No sum of one fact reaches 2^53. */
export function packSums(counted: bigint, sums: BigUint64Array): PartSums {
  const counts = new Float64Array(sums.length);
  for (let i = 0; i < sums.length; i++) counts[i] = Number(sums[i]);
  return { counted: String(counted), sums: packCounts(counts) };
}

/** Packs counts as varints. */
export function packCounts(counts: ArrayLike<number>): Uint8Array {
  const bytes = new Uint8Array(varintsLength(counts));
  writeVarints(counts, bytes, 0);
  return bytes;
}
