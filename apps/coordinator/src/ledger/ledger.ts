import type { Counts, JobSpec, JobTimes, MendedInputs, QuarantineReason } from '@halogrid/proto';
import type { FoundInPart } from '@halogrid/results/part-writer';
import type { OutputLack } from '../job/output-lack.ts';
import type { FrameOfVideo, PlanStep, Shard, ShardAnswer } from '../job/shard.ts';
import type { LedgerState } from '../log/fact.ts';

export type { LedgerState };

export interface JobRecord {
  jobId: string;
  spec: JobSpec;
  state: LedgerState;
  submittedMs: number;
  finishedMs: number;
  /** Why it failed; empty otherwise. */
  error: string;
  /** Set once complete. */
  digest: string;
  planned: boolean;
  counts: Counts;
  /** Why inputs are quarantined, as halogrid.v1.JobStatus tells it; absent where none is. */
  reasons?: QuarantineReason[];
  /**
   * Inputs from which bytes were removed, as in halogrid.v1.JobStatus; absent if there are none.
   */
  mended?: MendedInputs[];
  /** Notes for people about its sources, a sentence each; absent if there are none. */
  notes?: readonly string[];
  /** Nodes whose results are merged; absent in records of older versions, which did not count them. */
  nodesUsed?: number;
  /** As halogrid.v1.JobStatus tells it; absent before the first result. */
  times?: JobTimes;
  /** It has failed because something outside it was missing. Its results so far are kept, for `goOn`. */
  canGoOn?: true;
}

/** The answer to a shard, as the ledger commits it. */
export interface ShardCommit extends Omit<ShardAnswer, 'spans'> {
  jobId: string;
  shard: number;
  attempt: number;
  epoch: number;
  /** For job.json: which node and device did it; absent where the coordinator did, of sources that are kept. */
  node?: { name: string; device: string };
}

/** A planned shard that is not done, and the number of its last attempt; 0 before the first. */
export interface OpenShard {
  shard: Shard;
  attempts: number;
}

/** Shards that are not done, in the order of the plan. */
export interface OpenShards {
  open: OpenShard[];
  /** Shards of the job that are planned. */
  planned: number;
  /** Of these, shards of kept sources. */
  kept: number;
}

/** A shard that is to be done again. */
export interface Withdrawn extends Omit<OpenShards, 'open'> {
  open: OpenShard;
  /** Name of the node that had done it; absent where the coordinator had. */
  node?: string;
}

/** A source that cannot be processed. `attempts` is 0 where the planner itself could not read it. */
export interface QuarantinedRow {
  index: number;
  uri: string;
  /** As of a source that is done, where it is a frame of a video. */
  video?: FrameOfVideo;
  /** That of its file when it was listed. */
  version?: string;
  stage: string;
  error: string;
  attempts: number;
}

/** Sources that are done or quarantined, and so stay as they are. */
export interface SettledSources {
  /** Index of the first source behind them. */
  next: number;
  /** All of them, in order of index. */
  runs: SettledRun[];
}

/** Sources that follow one another: quarantined ones, or some that were found together. */
export type SettledRun = QuarantinedRun | FoundRun;

export interface QuarantinedRun {
  kind: 'quarantined';
  sources: QuarantinedRow[];
}

/** Sources that are done, and whose results are in one part. */
export interface FoundRun {
  kind: 'found';
  /** Number of the first source, and how many they are. */
  first: number;
  count: number;
  /** The block in which they were planned, in a file, and the place of the first of them in it. */
  planned: { file: string; offset: number; length: number; nth: number };
  /** What was found of the block, and where it is written. */
  found: FoundInPart;
  /** The shard that is to be done again where that is lost; absent for an image in tiles. */
  shard?: number;
}

/** Shards that are done, and where what was found of them is written. */
export interface AnsweredShards {
  /** Number of the first shard behind those that were looked at. */
  next: number;
  /** In order of number. Tiles have no part, nor do shards of which nothing was found. */
  shards: { shard: number; found: FoundInPart }[];
}

/** Everything the output is made of, besides the histograms of each source. */
export interface JobResults {
  job: JobRecord;
  /** Pixels counted in each channel, over every source that is done. */
  counted: bigint;
  /**
   * Counts of every channel, one after another, over all cells of every source that is done; none without a histogram.
   */
  bins: BigUint64Array;
  /** Summed over shards. */
  stageSeconds: Record<string, number>;
  nodes: { name: string; device: string; shards: number }[];
  /** The steps of the job, as they are recorded; until it has ended. */
  plan: () => AsyncIterable<PlanStep>;
  /** As Ledger.settled; until it has ended. */
  settled: (from: number, atMost: number) => Promise<SettledSources>;
  /**
   * What each pipeline found, as a job of its own would have it, where they have names. Sums and bins of the whole are
   * then those of the first.
   */
  parts?: readonly { name: string; results: JobResults }[];
}

/** What is merged of a job that goes on, by one of its pipelines. */
export interface MergedPart {
  /** Empty where the job has one pipeline without a name. */
  name: string;
  counted: bigint;
  /** As JobResults.bins, and only valid at once: it grows. */
  bins: BigUint64Array;
}

/**
 * The memory of the coordinator: what was asked for, planned, committed and merged. The scheduler decides by its own
 * and tells it here. What a method was told is durable when it resolves, except where it says otherwise; after a crash
 * everything that was not is offered again.
 *
 * `commit` is the exactly-once door: a shard's completion and its merged histogram are one fact of the job's log.
 *
 * Where a log or the registry cannot be written, methods that change something resolve when it can again: nothing is
 * lost, and callers that wait for them give out no more work than they want to hold. They reject with FencedError where
 * another coordinator leads.
 */
export interface Ledger {
  /** Fencing number of this leader, for leases to carry: a commit with an older one is stale. */
  readonly epoch: number;
  /** That of a job, where it has one of its own. */
  epochOf(jobId: string): number;
  createJob(job: { jobId: string; spec: JobSpec; submittedMs: number }): Promise<void>;
  /** `canGoOn`: the results so far of a failed job are kept until it goes on or is cancelled. */
  setState(
    jobId: string,
    state: LedgerState,
    at: { nowMs: number; error?: string; digest?: string; canGoOn?: boolean },
  ): Promise<void>;
  /** Appends steps of the plan; `last` when no more follow. */
  addPlan(jobId: string, steps: PlanStep[], last: boolean): Promise<void>;
  /** Sets all notes about the job's sources. They are written with what comes next. */
  setNotes(jobId: string, notes: readonly string[]): void;
  /** Records when a job first reached that moment. It is written with what comes next. */
  noteTime(jobId: string, moment: 'leasedMs' | 'listedMs', nowMs: number): void;
  /** Counts a lease given; the same attempt of the same shard once. It is written with what comes next. */
  addAttempt(jobId: string, shard: number, attempt: number): Promise<void>;
  /**
   * Marks the shard done and merges its results, once: 'duplicate' when it was done before, 'stale' when the epoch is
   * an older one or the job has ended. A source with an error in any of its tiles is quarantined as a whole and counts
   * nothing. Rejects with InvalidResultError, and changes nothing, where the results cannot be right (see
   * check-tile.ts and check-found.ts); any other rejection is the end of the job, because what it says is not kept.
   */
  commit(commit: ShardCommit): Promise<'committed' | 'duplicate' | 'stale'>;
  /**
   * Gives up on a shard: it is done, and its sources are quarantined with stage 'compute', that error and that number
   * of attempts. A shard that is done already stays as it is.
   */
  quarantineShard(jobId: string, shard: number, error: string, attempts: number): Promise<void>;
  /** The shard is done without a result: its source is quarantined already. Does nothing where it was done before. */
  skipShard(jobId: string, shard: number): Promise<void>;
  /**
   * The sources from index `from` on that are settled, up to the first that is not, and `atMost`. The last ones may
   * follow a little later, as what is known of them is written, and are there once `results` has resolved.
   */
  settled(jobId: string, from: number, atMost: number): Promise<SettledSources>;
  /** The shards from number `from` on that are answered, of `atMost`; `next` is `from` where there are no more. */
  answered(jobId: string, from: number, atMost: number): Promise<AnsweredShards>;
  /**
   * Takes back what was found of a shard, because its part is lost or not what its node said: the shard is to be done
   * again. Undefined where the shard is not done.
   */
  withdraw(jobId: string, shard: number): Promise<Withdrawn | undefined>;
  /** What is merged so far, by pipeline; undefined for a job that has ended. Some of it may not be durable yet. */
  mergedSoFar(jobId: string): MergedPart[] | undefined;
  /** Inputs of a job that goes on that are quarantined so far, in no order; undefined for a job that has ended. */
  quarantinedSoFar(jobId: string): Iterable<QuarantinedRow> | undefined;
  getJob(jobId: string): Promise<JobRecord | undefined>;
  /** Newest first. The newest thousand of those that have ended are kept. */
  listJobs(): Promise<JobRecord[]>;
  /** The results of a planned job whose shards are all done and that has not ended. */
  results(jobId: string): Promise<JobResults>;
  /**
   * Takes up a job that an earlier process began: its planned shards that are not done.
   * Rejects with one sentence where what it left in its folder is lost, or is of another version of the results.
   */
  resume(jobId: string): Promise<OpenShards>;
  /**
   * The steps that `addPlan` was told before this process began; once `results` has resolved, all of them. Rejects
   * where the log cannot be read.
   */
  recordedPlan(jobId: string): AsyncIterable<PlanStep>;
  /** Why results of a job cannot be written to its folder for now; undefined if they can. */
  outputLack(jobId: string): OutputLack | undefined;
  /**
   * Gives up the results that cannot be written to the folder of a job for now: promises that wait for them reject. The
   * job is about to end.
   */
  giveUp(jobId: string): Promise<void>;
  /** How long the oldest change waits to be written, and why it could not be; 0 where none does. */
  behind(): { ms: number; failure: string | undefined };
  close(): Promise<void>;
}

/** Jobs that the ledger of this process does not lead. */
export interface JobsElsewhere {
  get(jobId: string): Promise<JobRecord | undefined>;
  list(): Promise<JobRecord[]>;
  ended(): JobRecord[];
  /** Takes over a job that has ended. */
  add(record: JobRecord): void;
  forget(jobIds: readonly string[]): void;
}
