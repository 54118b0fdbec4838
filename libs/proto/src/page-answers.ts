// What the coordinator's HTTP API answers beside messages, for its pages and for programs: plain JSON.
import type { JobStatus } from './gen/halogrid/v1/job.ts';
import type { NodeStatus } from './gen/halogrid/v1/nodes.ts';

/** GET /api/v1/jobs, the newest first. */
export interface JobsAnswer {
  jobs: ListedJob[];
  /** Those that the query is for, beyond its limit. */
  leftOut: number;
}

export interface ListedJob extends JobStatus {
  /** Its pipelines without what is a default anyway: operations as `--op` takes them. */
  asked: AskedPipeline[];
}

/** What a pipeline was asked for with: its name, empty where it is the only one, and operations as `--op` takes them. */
export interface AskedPipeline {
  name: string;
  operations: string[];
}

/** GET /api/v1/jobs/ID. */
export interface JobDetail {
  job: JobStatus;
  /** Milliseconds since 1970 by the coordinator's clock: ages are told by it, whatever the clock of who reads. */
  nowMs: number;
  /** Its pipelines without what is a default anyway: operations as `--op` takes them. */
  asked: AskedPipeline[];
  /** Absent where no coordinator that is there saw the job run, or it ended too long ago. */
  history?: JobHistoryView;
  /** Where ?merged=PIPELINE asks for it, of a job that has not ended; absent where its leader did not answer. */
  merged?: MergedSoFar;
}

/** What a job did over its time. Buckets are of `widthMs` each and begin at `sinceMs`. */
export interface JobHistoryView {
  /** Milliseconds since 1970: the job's submission, or when this coordinator took it up. */
  sinceMs: number;
  elapsedMs: number;
  widthMs: number;
  /** Merged pixels a second, a mean of each bucket. */
  pixelsPerSecond: number[];
  stages: StageSummary[];
  /** By name; a hundred at most. */
  lanes: NodeLane[];
  nodesWithoutLane: number;
}

/** How long a stage took a shard, in seconds; quantiles are off by a tenth at most. */
export interface StageSummary {
  /** wait (for a lease), lease (from it to the merged result), merge (in the ledger); others as ShardCompleted names them. */
  stage: string;
  /** Shards. */
  count: number;
  mean: number;
  p50: number;
  p95: number;
  max: number;
}

export interface NodeLane {
  node: string;
  /** Merged. */
  shards: number;
  pixels: number;
  /** Shards that it held, as a mean of each bucket; those that are not merged yet are not told. */
  held: number[];
}

/** GET /api/v1/jobs/ID/histogram?pipeline=NAME&cell=ROW,COLUMN: the first fields of histogram.json, of what is merged so far. */
export interface MergedSoFar {
  /** Names of the job's pipelines; one empty name where it has one without. */
  pipelines: string[];
  /** The one that this tells of. */
  pipeline: string;
  /** Pixels counted in each channel; as text where it is above 2^53. */
  counted: number | string;
  /** Counts, as text where they are above 2^53; no bins where the pipeline has no histogram. */
  channels: { name: string; bins: (number | string)[] }[];
  /** The cell of the grid that it is of, and of how many sources, the first ones; absent where it is over all cells and sources. */
  cell?: { row: number; column: number; sources: number };
}

/** GET /api/v1/jobs/ID/quarantined: inputs that are set aside, by why. */
export interface QuarantinedInputs {
  /** The most frequent first. */
  groups: QuarantinedGroup[];
  /** Inputs of which no file is told. */
  leftOut: number;
}

export interface QuarantinedGroup {
  /** "read", "decode" or "compute". */
  stage: string;
  /** That of the first input; others may differ in names and numbers. */
  error: string;
  inputs: number;
  /** The first of them. */
  files: { uri: string; frame: number; error: string }[];
}

/** GET /api/v1/nodes. */
export interface NodesAnswer {
  nodes: NodeDetail[];
  /** Nodes that left or were lost within a day, the last one first. */
  left: LeftNode[];
}

/** An attached node, with what its status does not tell. */
export interface NodeDetail extends NodeStatus {
  /** What it has shown that it can do, as Lack.need names it: "read file:///data", "write …". */
  sees: string[];
  /** Decoded bytes of its leases, and how many it will hold. */
  leasedBytes: number;
  creditBytes: number;
  /** The last failure of a shard: one sentence; empty where there was none. */
  lastFailure: string;
  /** Milliseconds since 1970; 0 where there was none. */
  lastFailureMs: number;
  /** What its workers were at in the last seconds in which it told; absent before it did. */
  load?: WorkersAtWork[];
}

export interface WorkersAtWork {
  /** decode: threads that decode images; video: processes and engines that decode videos; device: 1, or the threads of a CPU. */
  kind: string;
  workers: number;
  /** At work, as a mean of some seconds. */
  busy: number;
  /** Pieces of work that wait for one of them. */
  queued: number;
}

export interface LeftNode {
  nodeId: string;
  name: string;
  device: string;
  gpuUuid: string;
  shardsDone: number;
  pixelsDone: number;
  lastFailure: string;
  /** Milliseconds since 1970. */
  attachedMs: number;
  leftMs: number;
  /** Why, in one sentence. */
  reason: string;
  /** It did not leave in order. */
  isLost: boolean;
}

/** GET /api/v1/may: what who asks may do here. */
export interface MayAnswer {
  /** Submit, cancel and run again. */
  submit: boolean;
  /** Why not, in one sentence; empty where it may. */
  why: string;
}

/** GET /api/v1/jobs/ID/frames?from=N&step=N&count=N, or ?uri=…&frame=N&count=N: sources of a complete job, in their order. */
export interface FramesAnswer {
  /** Sources of the job. */
  total: number;
  frames: JobFrame[];
}

export interface JobFrame {
  /** In the job, from 0. */
  index: number;
  uri: string;
  /** In its video; absent for an image. */
  frame?: number;
  /** In its video, in milliseconds. */
  timestampMs?: number;
  /** That of its files, without extension; empty where it is quarantined. */
  name: string;
  width: number;
  height: number;
  counted: number;
}

/** GET /api/v1/jobs/ID/image?index=N. */
export interface ImageAnswer {
  /** Whether it is read by region, or small enough, so that its parts can be shown as large as they are. */
  readsParts: boolean;
}

/** GET /api/v1/jobs/ID/frame?index=N&pipeline=NAME: the histograms of one source; …/cells?pipeline=NAME: those of all sources together. */
export interface FrameHistograms {
  /** Rows of the grid; cells are row by row. */
  rows: number;
  columns: number;
  channels: string[];
  /** The bins of each cell, every channel, one after another. */
  cells: number[][];
}

/** GET /api/v1/kernels: what a form of a pipeline is made of. */
export interface KernelsAnswer {
  kernels: { name: string; summary: string; parameters: ParameterForm[] }[];
  borders: string[];
  mapFormats: string[];
}

export interface ParameterForm {
  name: string;
  /** What it begins with. */
  value: string;
  /** All that it may be, where these are names. */
  choices: string[];
  /** What it may be, as a clause; empty where every value is taken. */
  allowed: string;
}

/** GET /api/v1/folder?path=…: what lies in a folder that sources may be in; without a path, where to begin. */
export interface FolderAnswer {
  /** Absolute; empty for the list of data roots. */
  path: string;
  /** The path of the folder around it; empty where that is not to be seen, or it is a data root. */
  parent: string;
  entries: FolderEntry[];
  /** Further ones, that are not told. */
  leftOut: number;
}

export interface FolderEntry {
  name: string;
  path: string;
  isFolder: boolean;
  bytes: number;
}

/** What POST /api/v1/jobs and /api/v1/plan take: as the options of `halogrid submit` do. */
export interface JobForm {
  /** Paths as the coordinator sees them, globs and URIs. */
  sources: string[];
  /** As `--op`. */
  operations: string[];
  /** As `--border`; empty: each kernel's own. */
  border: string;
  map: string;
  /** As `--grid`. */
  grid: string;
  /** Absolute; empty: a folder of the job's own in the first data root, or where the coordinator was started. */
  out: string;
}

/** What POST /api/v1/plan answers. */
export interface PlanAnswer {
  sources: number;
  kept: number;
  quarantined: number;
  /** Whose size is not known before they are decoded. */
  unknown: number;
  pixels: number;
  shards: number;
  videoFrames: number;
  mapsBytes: number;
  featuresBytes: number;
  scratchBytes: number;
  notes: string[];
  reasons: { stage: string; error: string; inputs: number; example: string }[];
  /** Not all was looked at in the time that a plan for a form may take: it is of what was. */
  isPart: boolean;
}
