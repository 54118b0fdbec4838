/** Findings about a file during decoding, one bit each. Its planes are fine if only `complete` is set. */
export const status = {
  /** The last block ended where the data ends. */
  complete: 1,
  /** A code does not exist, or is cut by a marker. */
  badCode: 2,
  /** Blocks, restart markers or the end are not where they must be. */
  outOfOrder: 4,
  /** A coefficient, or a result of the transform, is out of the range in which decoders agree. */
  outOfRange: 8,
  /** It is unknown where codes begin: too many guesses were wrong. */
  unsettled: 16,
} as const;

/** Whether the planes of a file are fine; if not, cores decode it. */
export const isFine = (found: number): boolean => found === status.complete;
