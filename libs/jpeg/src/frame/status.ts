/**
 * What is found out about a file while it is decoded, a bit each. Its planes are fine where it is `complete` and
 * nothing else.
 */
export const status = {
  /** The last block ended where the data does. */
  complete: 1,
  /** A code that there is not, or one that a marker cuts. */
  badCode: 2,
  /** Blocks, restart markers and the end are not where they must be. */
  outOfOrder: 4,
  /** A coefficient, or what the transform makes of it, is outside of what decoders agree on. */
  outOfRange: 8,
  /** It is not known where codes begin: too many guesses were wrong. */
  unsettled: 16,
} as const;

/** Whether the planes of a file with that status are fine; if not, cores decode it. */
export const isFine = (found: number): boolean => found === status.complete;
