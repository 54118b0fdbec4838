import type { PixelType, Rect, Size } from '@halogrid/geometry';
import type { Cause, MendedKind, StageSpan, VideoSegment } from '@halogrid/proto';
import type { ShardSummary } from '@halogrid/results/found-shard';
import type { FoundInPart } from '@halogrid/results/part-writer';
import type { AwayHost } from '@halogrid/sources';
import type { CaptureTime } from '@halogrid/sources/captured';
import type { BlockSource } from '@halogrid/sources/source-block';
import type { PlannedSources } from './planned-sources.ts';

/** Size of an image, and what its pixels are: u8 where that is absent. */
export interface ImageSize extends Size {
  readonly pixel?: PixelType;
}

/** What a shard computes: a tile of one image, or frames to process whole; or what it keeps of an earlier output. */
export type ShardWork = TileWork | { kind: 'frames'; sources: PlannedSources; segment?: VideoSegment } | KeptWork;

/** Sources that an earlier job in the output folder has done. The coordinator reads and checks what that job found. */
export interface KeptWork {
  kind: 'kept';
  sources: PlannedSources;
  /** Where that is, as EarlierRuns has it. */
  earlier: readonly number[];
}

/** A part of an image, which is its only source. */
export interface TileWork {
  kind: 'tile';
  sources: PlannedSources;
  /** That of the image. */
  size: Size;
  rect: Rect;
}

/** Sources of a shard. */
export const sourcesIn = ({ sources }: ShardWork): number => sources.count;

/** The part of a video in which all sources of a shard are, as halogrid.v1.VideoSegment defines it. */
export type { VideoSegment };

/** Which frame of its video a source is. */
export type FrameOfVideo = NonNullable<BlockSource['video']>;

/** The unit of work that is leased. Shards of a job are numbered from 0 without gaps. */
export interface Shard {
  shard: number;
  work: ShardWork;
  /**
   * Decoded bytes a node holds for it, as far as the planner can tell, or those of its counts where they are more;
   * counts against the node's credit.
   */
  costBytes: number;
  /**
   * What a node must have shown that it can do: see needs-of.ts. Shards that need the same share one array. Absent:
   * nothing.
   */
  needs?: readonly string[];
}

/** A shard that the coordinator does itself. */
export type KeptShard = Shard & { work: KeptWork };

export const isKept = (shard: Shard): shard is KeptShard => shard.work.kind === 'kept';

/**
 * One step of a job's plan, in order: sources come before the shards that need them. No shard needs one that is set
 * aside.
 */
export type PlanStep = { kind: 'sources'; sources: PlannedSources } | { kind: 'shard'; shard: Shard };

/** Something to be told of a plan, a sentence. It is no part of the plan, and is not recorded with it. */
export interface PlanNote {
  kind: 'note';
  text: string;
}

/** The host that a plan waits for from now on; undefined: it waits for none. It is passed on like a note. */
export interface PlanWaits {
  kind: 'waits';
  away: AwayHost | undefined;
}

/**
 * Which sources get a preview, by index, once all are listed. It follows from the plan, and is not recorded with it
 * either.
 */
export interface PlanPreviews {
  kind: 'previews';
  chosen: number[];
}

/** What a plan is made of, as it is made. */
export type PlannedStep = PlanStep | PlanNote | PlanWaits | PlanPreviews;

export const isRecorded = (step: PlannedStep): step is PlanStep => !isTold(step) && step.kind !== 'previews';

/** Whether a step is only passed on, and is not a part of the plan. */
export const isTold = (step: PlannedStep): step is PlanNote | PlanWaits =>
  step.kind === 'note' || step.kind === 'waits';

/** The exact result of one tile, as a node reports it. */
export interface SourceResult {
  source: number;
  size: Size;
  rect: Rect;
  counted: number;
  /**
   * Histograms of the cells that `rect` touches, cells row by row; of each the bins of every channel, one channel after
   * another. Empty where the pipeline has no histogram.
   */
  bins: ArrayLike<number>;
  /**
   * What the file states of when it was captured; of a video, its first frame. Only the first pipeline's result has it.
   */
  captured?: CaptureTime;
  /** Place of the pipeline among those of the job; absent: 0. */
  pipeline?: number;
}

/** An input that cannot be processed, and why, in one sentence. */
export interface SourceError {
  source: number;
  stage: string;
  error: string;
  /**
   * Whether the bytes could be had, and are those that were listed, which alone makes it the input's; absent: they are.
   */
  cause?: Cause;
}

/** What was found of frames; where it is written, unless it is for comparison. */
export type FoundFrames = ShardSummary & Partial<Pick<FoundInPart, 'part' | 'places'>>;

/** What a node found out about a shard, as the ledger takes it. */
export interface ShardAnswer {
  /** Those of a tile, one a pipeline. */
  results: SourceResult[];
  /** Of frames, all that have no error. */
  found?: FoundFrames;
  errors: SourceError[];
  /** As ShardCompleted.mended; absent: none. */
  mended?: readonly MendedKind[];
  stageSeconds: Record<string, number>;
  /** As ShardCompleted.busy_seconds. */
  busySeconds?: Record<string, number>;
  inputBytes: number;
  /** When it was in which stage, as ShardTimeline; of each stage one at most. */
  spans?: readonly StageSpan[];
}

/** Values that a label of a node's choosing may have; anything else is 'other', so that series stay few. */
export const stageNames = new Set(['read', 'decode', 'upload', 'compute', 'readback', 'encode']);
export const stageLabel = (stage: string): string => (stageNames.has(stage) ? stage : 'other');
/** What nodes may say that they were busy with; anything else is left out. */
export const activities = new Set([
  ...['read', 'decode', 'device', 'encode', 'shard'],
  ...['network', 'read', 'decode', 'device', 'encode', 'node'].map((name) => `${name}_binds`),
]);
