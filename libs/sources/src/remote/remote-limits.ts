/** Limits of time and memory for reading from servers. */
export interface RemoteLimits {
  /** The most requests for the same bytes, if the failure may pass. */
  attempts: number;
  /** The pause before the second attempt; it doubles before each further one. */
  backoffMs: number;
  /** The longest time without a byte, also while connecting. */
  idleMs: number;
  /** The longest time of a request, from its beginning to its last byte. */
  totalMs: number;
  redirects: number;
  /** An encoded file that is read whole is kept in memory up to this size, and in a temporary file above it. */
  memoryBytes: number;
  /** The longest file that is read from a server that cannot send parts. */
  wholeBytes: number;
  /** The most bytes of one request. */
  partBytes: number;
  /** The most requests for one file at a time. */
  partsInFlight: number;
  /**
   * Gaps of up to this size are read, not skipped by another request: as much comes in some milliseconds, the time of a
   * request.
   */
  gapBytes: number;
}

export const defaultRemoteLimits: RemoteLimits = {
  attempts: 4,
  backoffMs: 250,
  idleMs: 30_000,
  totalMs: 600_000,
  redirects: 5,
  memoryBytes: 2 ** 25,
  wholeBytes: 2 ** 36,
  partBytes: 2 ** 22,
  partsInFlight: 8,
  gapBytes: 2 ** 16,
};
