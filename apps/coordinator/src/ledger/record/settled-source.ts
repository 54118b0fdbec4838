// What the ledger keeps of a source that is settled.

/** SHA-256 of a source's result: 32 bytes. */
export type SourceDigest = Uint8Array;

/** Where the histograms of a source lie in a file of them. */
export interface HistogramPlace {
  offset: number;
  length: number;
  /** CRC-32 of the bytes there. */
  checksum: number;
}

/** Why a source counts nothing. */
export interface Quarantine {
  stage: string;
  error: string;
  attempts: number;
  /** The shard that failed; -1 for the planner. */
  shard: number;
}
