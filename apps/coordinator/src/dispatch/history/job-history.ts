import type { JobHistoryView, StageSpan } from '@halogrid/proto';
import { ShardTimes } from './shard-times.ts';
import { StageDurations } from './stage-durations.ts';
import type { StoredHistory } from './stored-history.ts';
import { TimeBuckets } from './time-buckets.ts';

/** How many nodes have a lane: the first ones to finish a shard. A page has no room for more, and a lane takes 4 KB. */
const mostLanes = 100;

/** How many numbers of buckets are kept for a job: then its history takes less than 20 KB. */
const mostStored = 4_800;

/** A merged result; times are in milliseconds of the clock of `nowMs` in JobHistory. */
export interface MergedShard {
  node: string;
  /** `shard` and `attempt` of its lease. */
  shard: number;
  attempt: number;
  leasedAtMs: number;
  /** When its answer came. */
  answeredMs: number;
  mergedMs: number;
  pixels: number;
  /** Seconds by stage, as the node reported. */
  stageSeconds: Readonly<Record<string, number>>;
  /** Seconds that the ledger took. */
  mergeSeconds: number;
  /** When it was in each stage, as the node reported. */
  spans: readonly StageSpan[];
}

interface Lane {
  shards: number;
  pixels: number;
  /** Milliseconds for which it held shards, added up over the shards. */
  held: TimeBuckets;
}

/** The history of a job, as its leaders saw it: its speed, what it waited for, and when each node had shards. */
export class JobHistory {
  /** When each of its shards was on which node, in this process. */
  readonly shardTimes = new ShardTimes();
  readonly #beganMs: number;
  readonly #sinceMs: number;
  #pixels = new TimeBuckets();
  readonly #stages = new Map<string, StageDurations>();
  readonly #lanes = new Map<string, Lane>();
  readonly #nodesWithoutLane = new Set<string>();
  /** Whether something has happened since the last `store`. */
  #hasChanged = true;

  /** `nowMs` of a clock that never goes back, `wallMs` since 1970. */
  constructor(nowMs: number, wallMs: number) {
    this.#beganMs = nowMs;
    this.#sinceMs = wallMs;
  }

  /** Goes on with what earlier leaders saw; the time without a leader counts. Times as in the constructor. */
  static from(stored: StoredHistory, nowMs: number, wallMs: number): JobHistory {
    // A clock that was set back must not let the past overlap.
    const elapsedMs = Math.max(stored.elapsedMs, wallMs - stored.sinceMs);
    const history = new JobHistory(nowMs - elapsedMs, stored.sinceMs);
    history.#pixels = TimeBuckets.from(stored.pixels);
    for (const [stage, durations] of stored.stages) history.#stages.set(stage, StageDurations.from(durations));
    for (const { node, held, ...lane } of stored.lanes) {
      history.#lanes.set(node, { ...lane, held: TimeBuckets.from(held) });
    }
    for (const node of stored.nodesWithoutLane) history.#nodesWithoutLane.add(node);
    return history;
  }

  get hasChanged(): boolean {
    return this.#hasChanged;
  }

  /** The history for storage. */
  store(nowMs: number): StoredHistory {
    this.#hasChanged = false;
    const most = Math.floor(mostStored / (1 + this.#lanes.size));
    const pixels = this.#pixels.stored(most);
    return {
      sinceMs: this.#sinceMs,
      elapsedMs: Math.max(0, nowMs - this.#beganMs),
      pixels,
      stages: [...this.#stages].map(([stage, durations]) => [stage, durations.stored]),
      lanes: [...this.#lanes].map(([node, { held, ...lane }]) => ({ node, ...lane, held: held.stored(most) })),
      nodesWithoutLane: [...this.#nodesWithoutLane],
    };
  }

  /** A shard was leased after waiting this long. */
  leased(waitedMs: number): void {
    this.#hasChanged = true;
    this.#stage('wait').add(waitedMs / 1000);
  }

  merged(merged: MergedShard): void {
    this.#hasChanged = true;
    const { node, shard, attempt, leasedAtMs, answeredMs, mergedMs, pixels, stageSeconds, mergeSeconds, spans } =
      merged;
    const [from, to] = [leasedAtMs - this.#beganMs, mergedMs - this.#beganMs];
    const [leased, answered] = [Math.max(0, from) / 1000, (answeredMs - this.#beganMs) / 1000];
    this.shardTimes.add({ node, shard, attempt, leased, answered, merged: to / 1000, spans });
    this.#pixels.add(to, to, pixels);
    this.#stage('lease').add((to - from) / 1000);
    for (const [stage, seconds] of Object.entries(stageSeconds)) if (seconds > 0) this.#stage(stage).add(seconds);
    this.#stage('merge').add(mergeSeconds);
    const lane = this.#lane(node);
    if (!lane) return;
    lane.shards++;
    lane.pixels += pixels;
    lane.held.add(from, to, to - Math.max(0, from));
  }

  /** `endMs`: when the job ended, or now if it goes on, by the clock of `nowMs`. */
  view(endMs: number): JobHistoryView {
    const elapsedMs = Math.max(0, endMs - this.#beganMs);
    const widthMs = this.#pixels.widthAt(elapsedMs);
    const perSecond = (sum: number) => (sum * 1000) / widthMs;
    return {
      sinceMs: this.#sinceMs,
      elapsedMs,
      widthMs,
      pixelsPerSecond: this.#pixels.sums(elapsedMs, widthMs).map(perSecond),
      stages: [...this.#stages].map(([stage, durations]) => ({ stage, ...durations.summary() })),
      lanes: [...this.#lanes]
        .map(([node, { shards, pixels, held }]) => {
          return { node, shards, pixels, held: held.sums(elapsedMs, widthMs).map((ms) => rounded(ms / widthMs)) };
        })
        .sort((a, b) => (a.node < b.node ? -1 : 1)),
      nodesWithoutLane: this.#nodesWithoutLane.size,
    };
  }

  #stage(stage: string): StageDurations {
    const known = this.#stages.get(stage);
    if (known) return known;
    const durations = new StageDurations();
    this.#stages.set(stage, durations);
    return durations;
  }

  #lane(node: string): Lane | undefined {
    const known = this.#lanes.get(node);
    if (known) return known;
    if (this.#lanes.size >= mostLanes) {
      this.#nodesWithoutLane.add(node);
      return undefined;
    }
    const lane = { shards: 0, pixels: 0, held: new TimeBuckets() };
    this.#lanes.set(node, lane);
    return lane;
  }
}

/** Rounded to a hundredth: a lane shows nothing finer. */
const rounded = (value: number): number => Math.round(value * 100) / 100;
