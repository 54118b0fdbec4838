import type { JobTimes } from '@halogrid/proto';
import { binsOfCell, type HistogramShape } from '@halogrid/results/histogram-shape';
import { Totals } from '@halogrid/results/totals';
import { resultsVersion } from '@halogrid/service/version';
import type { CaptureTime } from '@halogrid/sources/captured';
import type { LedgerState } from './fact.ts';
import type { FactPlace } from './fact-place.ts';
import { MendedInputCounts } from './mended-inputs.ts';
import type { OpenBins } from './open-bins.ts';
import type { Quarantine } from './quarantine.ts';
import { QuarantineReasons } from './quarantine-reasons.ts';
import { SourceIndex } from './source-index.ts';

/** An image some of whose tiles are to come. */
export interface UnfinishedImage {
  tilesLeft: number;
  /** Image pixels of the tiles that came. */
  pixels: number;
  /** Its size, once a tile came. */
  size?: { width: number; height: number };
  captured?: CaptureTime;
  /** Where the facts of the tiles that came lie, those that are written. */
  tiles: FactPlace[];
  /** The sums over these tiles, one a pipeline; none before the first tile. */
  parts: { counted: number; bins: OpenBins }[];
}

/** Why a source is quarantined, and which it is. */
export type QuarantinedSource = Quarantine & { uri: string };

/** What a pipeline found so far. */
export interface PartState {
  shape: HistogramShape;
  /** Pixels counted in each channel, over all sources that are done. */
  counted: bigint;
  totals: Totals;
}

/** How often what happened to a job. */
export interface StateCounts {
  /** Sources that are done. */
  frames: number;
  /** Those that nodes do. */
  shards: number;
  shardsDone: number;
  attempts: number;
  /** Of merged results, tile by tile; those of a source that is quarantined later are taken off again. */
  pixels: number;
  /** Sources that are done, and that an earlier job had done. */
  kept: number;
}

/** All that is known of a job, as it follows from the facts of its log. */
export interface JobState {
  state: LedgerState;
  submittedMs: number;
  finishedMs: number;
  error: string;
  digest: string;
  canGoOn: boolean;
  planned: boolean;
  notes: readonly string[];
  /** Version of the results that are done of it. */
  readonly resultsVersion: number;
  readonly counts: StateCounts;
  readonly times: JobTimes;
  /** In the order in which they came. */
  readonly nodes: { name: string; device: string; shards: number }[];
  readonly parts: readonly PartState[];
  readonly index: SourceIndex;
  /** Numbers of the last attempts at shards that are not done, where there were any. */
  readonly attempts: Map<number, number>;
  /** By source. */
  readonly quarantined: Map<number, QuarantinedSource>;
  /**
   * Undefined where a source that was counted has another reason now: they are counted again when they are asked for.
   */
  reasons: QuarantineReasons | undefined;
  /** By source. */
  readonly open: Map<number, UnfinishedImage>;
  mended: MendedInputCounts;
  /** URIs of the sources that `mended` gives as examples, or may. */
  readonly mendedUris: Map<number, string>;
}

/** That of a job to which nothing has happened; `shapes` has one for each pipeline. */
export function newState(shapes: readonly HistogramShape[], submittedMs: number): JobState {
  return {
    ...{ state: 'pending', submittedMs, finishedMs: 0, error: '', digest: '', canGoOn: false },
    ...{ planned: false, notes: [], resultsVersion },
    counts: { frames: 0, shards: 0, shardsDone: 0, attempts: 0, pixels: 0, kept: 0 },
    times: { leasedMs: 0, listedMs: 0, computedMs: 0, stageSeconds: {}, busySeconds: {} },
    nodes: [],
    parts: shapes.map((shape) => ({ shape, counted: 0n, totals: new Totals(binsOfCell(shape)) })),
    index: new SourceIndex(),
    attempts: new Map(),
    quarantined: new Map(),
    reasons: new QuarantineReasons(),
    open: new Map(),
    mended: new MendedInputCounts(),
    mendedUris: new Map(),
  };
}

/** Whether what becomes of a source is not known yet. */
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
