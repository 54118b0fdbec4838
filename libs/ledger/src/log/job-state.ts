import { QuarantineReasons } from '@halogrid/jobs/quarantine-reasons';
import type { JobPause, JobTimes } from '@halogrid/proto';
import { binsOfCell, type HistogramShape } from '@halogrid/results/histogram-shape';
import { Totals } from '@halogrid/results/totals';
import { resultsVersion } from '@halogrid/service/version';
import type { CaptureTime } from '@halogrid/sources/captured';
import type { LedgerState } from './fact.ts';
import type { FactPlace } from './fact-place.ts';
import { MendedInputCounts } from './mended-inputs.ts';
import type { OpenBins } from './open-bins.ts';
import { SourceIndex } from './source-index.ts';

/** An image that still lacks tiles. */
export interface UnfinishedImage {
  tilesLeft: number;
  /** Image pixels of the tiles so far. */
  pixels: number;
  /** Its size, once a tile has come. */
  size?: { width: number; height: number };
  captured?: CaptureTime;
  /** The places of the tiles' facts that are written. */
  tiles: FactPlace[];
  /** The sums over the tiles so far, one per pipeline; empty before the first tile. */
  parts: { counted: number; bins: OpenBins }[];
}

/** Why a quarantined source counts nothing. */
export interface QuarantinedSource {
  uri: string;
  stage: string;
  error: string;
  attempts: number;
  /** The shard that failed; -1 for the planner. */
  shard: number;
}

/** The results of a pipeline so far. */
export interface PartState {
  shape: HistogramShape;
  /** Pixels counted in each channel, over all sources that are done. */
  counted: bigint;
  totals: Totals;
}

/** Counters of a job. */
export interface StateCounts {
  /** Sources that are done. */
  frames: number;
  /** Planned shards for nodes, without shards of other shares. */
  shards: number;
  shardsDone: number;
  attempts: number;
  /** Pixels of merged results, tile by tile; pixels of a source that is quarantined later are subtracted. */
  pixels: number;
  /** Done sources whose results an earlier job had. */
  kept: number;
}

/** The state of a job, which follows from the facts of its log. */
export interface JobState {
  state: LedgerState;
  /** Who submitted it; empty if nobody was asked, and in logs of older versions. */
  readonly owner: string;
  submittedMs: number;
  finishedMs: number;
  error: string;
  digest: string;
  canGoOn: boolean;
  planned: boolean;
  /** Undefined while it is not paused. */
  paused: JobPause | undefined;
  notes: readonly string[];
  /** Version of its results. */
  readonly resultsVersion: number;
  readonly counts: StateCounts;
  readonly times: JobTimes;
  /** In the order in which they came. */
  readonly nodes: { name: string; device: string; shards: number }[];
  readonly parts: readonly PartState[];
  readonly index: SourceIndex;
  /** The number of the last attempt at each open shard that had one. */
  readonly attempts: Map<number, number>;
  /** The number of the attempt whose answer was withdrawn last, of open shards. */
  readonly withdrawn: Map<number, number>;
  /** By source. */
  readonly quarantined: Map<number, QuarantinedSource>;
  /** Undefined after the reason of a counted source has changed: `reasonsOf` then counts again. */
  reasons: QuarantineReasons | undefined;
  /** By source. */
  readonly open: Map<number, UnfinishedImage>;
  mended: MendedInputCounts;
  /** URIs of the sources that `mended` gives, or may give, as examples. */
  readonly mendedUris: Map<number, string>;
}

/** The state of a job before its first fact; `shapes` has one for each pipeline. */
export function newState(shapes: readonly HistogramShape[], submittedMs: number, owner = ''): JobState {
  return {
    state: 'pending',
    owner,
    submittedMs,
    finishedMs: 0,
    error: '',
    digest: '',
    canGoOn: false,
    planned: false,
    paused: undefined,
    notes: [],
    resultsVersion,
    counts: { frames: 0, shards: 0, shardsDone: 0, attempts: 0, pixels: 0, kept: 0 },
    times: { leasedMs: 0, listedMs: 0, computedMs: 0, stageSeconds: {}, busySeconds: {} },
    nodes: [],
    parts: shapes.map((shape) => ({ shape, counted: 0n, totals: new Totals(binsOfCell(shape)) })),
    index: new SourceIndex(),
    attempts: new Map(),
    withdrawn: new Map(),
    quarantined: new Map(),
    reasons: new QuarantineReasons(),
    open: new Map(),
    mended: new MendedInputCounts(),
    mendedUris: new Map(),
  };
}

/** Whether a source is neither done nor quarantined. */
export function isOpen({ index, quarantined }: JobState, source: number): boolean {
  if (quarantined.has(source) || index.isWhole(source)) return false;
  const shard = index.planned(source)?.shard;
  return shard === undefined || !index.isDone(shard);
}

/** Why sources are quarantined, each counted once. */
export function reasonsOf(state: JobState): QuarantineReasons {
  if (!state.reasons) {
    state.reasons = new QuarantineReasons();
    for (const [source, reason] of state.quarantined) state.reasons.add(source, reason);
  }
  return state.reasons;
}
