import type { Rect, Size } from '@halogrid/kernels';

/** An input of a job: an image or a frame. Sources are numbered in the order of results. */
export interface SourceRef {
  index: number;
  uri: string;
}

/** What a shard computes: a tile of one image, or frames to process whole. */
export type ShardWork =
  /** `version` tells the image from what it is after it was written to. */
  | { kind: 'tile'; source: SourceRef; version: number; size: Size; rect: Rect }
  | { kind: 'frames'; sources: SourceRef[] };

/** The unit of work that is leased. Shards of a job are numbered from 0 without gaps. */
export interface Shard {
  shard: number;
  work: ShardWork;
  /** Decoded bytes a node holds for it, as far as the planner can tell; counts against the node's credit. */
  costBytes: number;
}

/**
 * One step of a job's plan, in order: a source comes before the shards that need it. `tiles` is the number of tile shards
 * of a source that is cut, 1 for one that a batch processes whole, and 0 for one that is quarantined at once.
 */
export type PlanStep =
  | { kind: 'source'; index: number; uri: string; name: string; size?: Size; tiles: number }
  | { kind: 'quarantine'; index: number; stage: string; error: string }
  | { kind: 'shard'; shard: Shard };

/** The exact result of one tile or one whole frame, as a node reports it. */
export interface SourceResult {
  source: number;
  size: Size;
  rect: Rect;
  counted: number;
  /**
   * Histograms of the cells that `rect` touches, cells row by row; of each the bins of every channel, one channel after
   * another. Empty where the pipeline has no histogram.
   */
  bins: number[];
}

/** An input that cannot be processed, and why, in one sentence. */
export interface SourceError {
  source: number;
  stage: string;
  error: string;
}
