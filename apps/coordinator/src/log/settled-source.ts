import type { Size } from '@halogrid/geometry';
import type { SourceDigest } from '@halogrid/results/source-digest';

// What the ledger keeps of a source that is settled.

/** Where the histograms of a source lie in a file of them. */
export interface HistogramPlace {
  offset: number;
  length: number;
  /** CRC-32 of the bytes there. */
  checksum: number;
}

/** Where the histograms and the FrameRows of some frames lie in that file. */
export interface StoredPlace {
  /** The sources, as SourceRuns has them. */
  runs: Float64Array;
  /** Whether rows have times of capture. */
  isTimed: boolean;
  /** Where the histograms begin. The rows are behind them. */
  offset: number;
  countsBytes: number;
  rowsBytes: number;
  /** CRC-32 of the rows. */
  rowsChecksum: number;
}

/** Why a source counts nothing. */
export interface Quarantine {
  stage: string;
  error: string;
  attempts: number;
  /** The shard that failed; -1 for the planner. */
  shard: number;
}

/** What became of a source for good. */
export type SettledSource =
  | {
      /** Every tile came, and the totals hold their sum. */
      state: 'done';
      size: Size;
      counted: number;
      digest: SourceDigest;
    }
  | {
      /** It cannot be processed and counts nothing, whatever came before or comes later. */
      state: 'quarantined';
      reason: Quarantine;
    };
