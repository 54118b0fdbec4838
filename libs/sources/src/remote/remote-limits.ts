/** How patient, and how greedy, reading from servers is. */
export interface RemoteLimits {
  /** Requests for the same bytes, at most, where the failure may pass. */
  attempts: number;
  /** Before the second attempt; twice as long before each one after it. */
  backoffMs: number;
  /** Without a byte, also while connecting. */
  idleMs: number;
  /** A request from its beginning to its last byte. */
  totalMs: number;
  redirects: number;
  /** An encoded file that is read whole is kept in memory up to this, and in a temporary file above. */
  memoryBytes: number;
  /** The longest file that is read from a server which cannot send a part of it. */
  wholeBytes: number;
  /** Asked for at once. */
  partBytes: number;
  /** Requests of one file at a time. */
  partsInFlight: number;
  /** Rather read than skipped by another request: what comes in some milliseconds, the time a request takes. */
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
