import type { PixelType, Rect, Size } from '@halogrid/geometry';
import type { Cause, MendedKind, StageSpan, VideoSegment } from '@halogrid/proto';
import type { ShardSummary } from '@halogrid/results/found-shard';
import type { FoundInPart } from '@halogrid/results/part-writer';
import type { AwayHost } from '@halogrid/sources';
import type { CaptureTime } from '@halogrid/sources/captured';
import type { BlockSource } from '@halogrid/sources/source-block';
import type { PlannedSources } from './planned-sources.ts';

/** Size of an image in pixels, and the type of its pixels; u8 if `pixel` is absent. */
export interface ImageSize extends Size {
  readonly pixel?: PixelType;
}

/** The work of a shard: a tile of one image, whole frames, or sources whose results are kept from an earlier output. */
export type ShardWork = TileWork | { kind: 'frames'; sources: PlannedSources; segment?: VideoSegment } | KeptWork;

/** Sources that an earlier job in the output folder has done. The coordinator reads and checks their results. */
export interface KeptWork {
  kind: 'kept';
  sources: PlannedSources;
  /** The places of the sources in the earlier output, as EarlierRuns. */
  earlier: readonly number[];
}

/** A tile of an image. The image is the only source. */
export interface TileWork {
  kind: 'tile';
  sources: PlannedSources;
  /** Size of the whole image. */
  size: Size;
  rect: Rect;
}

/** How many sources a shard has. */
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
   * Bytes that a node holds for the shard, and that count against the node's credit: decoded bytes, as far as the
   * planner can tell, or the bytes of the counts if they are more.
   */
  costBytes: number;
  /**
   * What a node must have shown that it can do: see needs-of.ts. Absent: nothing. Shards with the same needs share one
   * array.
   */
  needs?: readonly string[];
  /** It belongs to another share of the plan: this job has it in its plan, and never does it. */
  elsewhere?: true;
}

/** A planned shard that is not done, and the number of its last attempt; 0 before the first. */
export interface OpenShard {
  shard: Shard;
  attempts: number;
  /** The number of the attempt whose answer was withdrawn last, if one was. */
  withdrawn?: number | undefined;
}

/** A shard that the coordinator does itself. */
export type KeptShard = Shard & { work: KeptWork };

export const isKept = (shard: Shard): shard is KeptShard => shard.work.kind === 'kept';

/**
 * One step of a job's plan. Sources come before the shards that need them. No shard needs a source that is set aside.
 */
export type PlanStep = { kind: 'sources'; sources: PlannedSources } | { kind: 'shard'; shard: Shard };

/** A sentence about the plan for the user. It is not a part of the plan, and is not recorded with it. */
export interface PlanNote {
  kind: 'note';
  text: string;
}

/** The host that the planning waits for from now on; undefined: it does not wait. Passed on like a note. */
export interface PlanWaits {
  kind: 'waits';
  away: AwayHost | undefined;
}

/**
 * Indexes of the sources that get a preview, emitted once all are listed. They follow from the plan, and are not
 * recorded with it either.
 */
export interface PlanPreviews {
  kind: 'previews';
  chosen: number[];
}

/** Whatever the planning of a job emits. */
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
   * Histograms of the cells that `rect` touches, row by row. Each has the bins of every channel, one channel after
   * another. Empty if the pipeline has no histogram.
   */
  bins: ArrayLike<number>;
  /**
   * The capture time that the file states; a video states that of its first frame. Only the first pipeline's result has
   * it.
   */
  captured?: CaptureTime;
  /** Index of the pipeline in the job; absent: 0. */
  pipeline?: number;
}

/** An input that cannot be processed, and why, in one sentence. */
export interface SourceError {
  source: number;
  stage: string;
  error: string;
  /**
   * Whether the listed bytes could be read. Only an error in bytes that were read as listed is the input's fault.
   * Absent: they were.
   */
  cause?: Cause;
}

/** The results of frames, and where they are written. Results that are only compared with others are not written. */
export type FoundFrames = ShardSummary & Partial<Pick<FoundInPart, 'part' | 'places'>>;

/** A node's answer about a shard, as the ledger takes it. */
export interface ShardAnswer {
  /** The results of a tile, one per pipeline. */
  results: SourceResult[];
  /** The results of all frames without an error. */
  found?: FoundFrames;
  errors: SourceError[];
  /** As ShardCompleted.mended; absent: none. */
  mended?: readonly MendedKind[];
  stageSeconds: Record<string, number>;
  /** As ShardCompleted.busy_seconds. */
  busySeconds?: Record<string, number>;
  inputBytes: number;
  /** When the shard was in which stage, as ShardTimeline; at most one span per stage. */
  spans?: readonly StageSpan[];
}

/**
 * The values of the metric label for stages, which nodes send. Anything else becomes 'other', so that series stay few.
 */
export const stageNames = new Set(['read', 'decode', 'upload', 'compute', 'readback', 'encode']);
export const stageLabel = (stage: string): string => (stageNames.has(stage) ? stage : 'other');
/** The activities that nodes may report busy seconds of. Anything else is left out. */
export const activities = new Set([
  ...['read', 'decode', 'device', 'encode', 'shard'],
  ...['network', 'read', 'decode', 'device', 'encode', 'node'].map((name) => `${name}_binds`),
]);
