import type { VectorCounts } from '../distances/vector.ts';

/** Bytes of a count in a block: as u8, u16 and u32, or as float64 if a count is above 2^32 - 1. */
export type CountBytes = 1 | 2 | 4 | 8;

/** The fewest bytes that hold every count up to that. */
export function widthFor(largest: number): CountBytes {
  if (largest < 2 ** 8) return 1;
  if (largest < 2 ** 16) return 2;
  return largest < 2 ** 32 ? 4 : 8;
}

/** The same counts in as few bytes as hold them. */
export function narrowCounts(counts: ArrayLike<number>): VectorCounts {
  let largest = 0;
  for (let i = 0; i < counts.length; i++) largest = Math.max(largest, counts[i]!);
  return new countArrays[widthFor(largest)](counts);
}

export const countArrays = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: Float64Array } as const;

/** The length of vectors is a multiple of this, with counts of 0 at the end, so that loops have no rest. */
export const lengthUnit = 16;

export const paddedLength = (length: number): number => Math.ceil(length / lengthUnit) * lengthUnit;
