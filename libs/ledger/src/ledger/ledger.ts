import type { OutputLack } from '@halogrid/jobs/output-lack';
import type { FrameOfVideo, OpenShard, PlanStep, ShardAnswer } from '@halogrid/jobs/shard';
import type { Counts, JobPause, JobSpec, JobTimes, MendedInputs, QuarantineReason } from '@halogrid/proto';
import type { FoundInPart } from '@halogrid/results/part-writer';
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
  /** Why inputs are quarantined, as in halogrid.v1.JobStatus; absent if none is. */
  reasons?: QuarantineReason[];
  /**
   * Inputs from which bytes were removed, as in halogrid.v1.JobStatus; absent if there are none.
   */
  mended?: MendedInputs[];
  /** Notes for people about its sources, a sentence each; absent if there are none. */
  notes?: readonly string[];
  /** Number of nodes whose results are merged; absent in records of older versions. */
  nodesUsed?: number;
  /** As in halogrid.v1.JobStatus; absent before the first result. */
  times?: JobTimes;
  /** Who submitted it; absent if nobody was asked, and in records of older versions. */
  owner?: string;
  /** Present while it is paused. */
  paused?: JobPause;
  /** It failed because something outside it was missing. Its results so far are kept, for `goOn`. */
  canGoOn?: true;
}

/** A job that is accepted. */
export interface NewJob extends Pick<JobRecord, 'jobId' | 'spec' | 'submittedMs'> {
  owner?: string | undefined;
}

/** The answer to a shard, as the ledger commits it. */
export interface ShardCommit extends Omit<ShardAnswer, 'spans'> {
  jobId: string;
  shard: number;
  attempt: number;
  epoch: number;
  /** For job.json: the node and its device; absent for kept sources, which the coordinator handled itself. */
  node?: { name: string; device: string };
}

/** Shards that are not done, in the order of the plan. */
export interface OpenShards {
  open: OpenShard[];
  /** Shards of the job that are planned. */
  planned: number;
  /** How many of the planned shards are not for nodes: shards of kept sources, and of other shares. */
  kept: number;
}

/** A shard that is to be done again. */
export interface Withdrawn extends Omit<OpenShards, 'open'> {
  open: OpenShard;
  /** Name of the node that did it; absent if the coordinator did. */
  node?: string;
}

/** A source that cannot be processed. `attempts` is 0 if the planner itself could not read it. */
export interface QuarantinedRow {
  index: number;
  uri: string;
  /** Its place in the video, if it is a frame of a video. */
  video?: FrameOfVideo;
  /** The version of its file when it was listed. */
  version?: string;
  stage: string;
  error: string;
  attempts: number;
}

/** Sources that are done or quarantined: they will not change. */
export interface SettledSources {
  /** Index of the first source behind them. */
  next: number;
  /** All of them, in order of index. */
  runs: SettledRun[];
}

/** Consecutive sources: quarantined ones, or ones that were found together. */
export type SettledRun = QuarantinedRun | FoundRun;

export interface QuarantinedRun {
  kind: 'quarantined';
  sources: QuarantinedRow[];
}

/** Done sources whose results are in one part. */
export interface FoundRun {
  kind: 'found';
  /** Index of the first source, and how many there are. */
  first: number;
  count: number;
  /**
   * The file, offset and length of the block in which they were planned, and the index of the first of them in the
   * block.
   */
  planned: { file: string; offset: number; length: number; nth: number };
  /** The results of the block, and their places in the part. */
  found: FoundInPart;
  /** The shard that is to be done again if the part is lost; absent for an image in tiles. */
  shard?: number;
}

/** Shards that are done, and where their results are written. */
export interface AnsweredShards {
  /** Number of the first shard behind those that were looked at. */
  next: number;
  /** In order of number. Tiles, and shards in which no source was found, have no part and are left out. */
  shards: { shard: number; found: FoundInPart }[];
}

/** Everything the output is made of, besides the histograms of each source. */
export interface JobResults {
  job: JobRecord;
  /** Pixels counted in each channel, over every source that is done. */
  counted: bigint;
  /**
   * Counts of every channel, one channel after another, over all cells of every source that is done; empty without a
   * histogram.
   */
  bins: BigUint64Array;
  /** Summed over shards. */
  stageSeconds: Record<string, number>;
  nodes: { name: string; device: string; shards: number }[];
  /** The recorded steps of the job; only until it has ended. */
  plan: () => AsyncIterable<PlanStep>;
  /** As Ledger.settled; only until it has ended. */
  settled: (from: number, atMost: number) => Promise<SettledSources>;
  /**
   * The results of each named pipeline, as for a job with only that pipeline. The job's own sums and bins are then the
   * same as the first pipeline's.
   */
  parts?: readonly { name: string; results: JobResults }[];
}

/** The merged results of a running job for one of its pipelines. */
export interface MergedPart {
  /** Empty if the job has one pipeline without a name. */
  name: string;
  counted: bigint;
  /** As JobResults.bins. Use it in the same turn: it changes later. */
  bins: BigUint64Array;
}

/**
 * The durable memory of the coordinator: jobs, their plans, commits and merged results. The scheduler has a state of
 * its own, and records its decisions here. A change is durable when its method resolves, except where the method says
 * otherwise. After a crash, changes that were not durable are offered again.
 *
 * `commit` makes every shard count exactly once: its completion and its merged histogram are one fact of the job's log.
 *
 * While a log or the registry cannot be written, methods that change something wait: nothing is lost, and callers that
 * await them bound the work that they hand out. They reject with FencedError if another coordinator leads.
 */
export interface Ledger {
  /** Fencing number of this leader, which leases carry: a commit with an older one is stale. */
  readonly epoch: number;
  /** The fencing number of a job: `epoch` unless the job was taken over from another coordinator. */
  epochOf(jobId: string): number;
  /**
   * The number of the log that this process writes for a job: higher than that of every earlier leader. Without a
   * registry, fencing numbers stay the same, because leases of an earlier process end with it.
   */
  logEpochOf(jobId: string): number;
  /**
   * Resolves once the registry has confirmed that this process leads the job: a later leader then sees all that was
   * done before. Rejects with FencedError, or never settles, if another process leads the job. Without a registry the
   * claim to the folder keeps others out.
   */
  confirm(jobId: string): Promise<void>;
  createJob(job: NewJob): Promise<void>;
  /**
   * `canGoOn`: the results so far of a failed job are kept until it goes on or is cancelled. `counts`: for the end of a
   * job whose logs are not read, because its output knows better.
   */
  setState(
    jobId: string,
    state: LedgerState,
    at: { nowMs: number; error?: string; digest?: string; canGoOn?: boolean; counts?: Counts },
  ): Promise<void>;
  /** Records that a job is paused, or goes on. Does nothing if it has ended. */
  setPaused(jobId: string, paused: JobPause | undefined): Promise<void>;
  /** Appends steps of the plan; `last`: no more follow. */
  addPlan(jobId: string, steps: PlanStep[], last: boolean): Promise<void>;
  /** Sets all notes about the job's sources. They are written with the next change. */
  setNotes(jobId: string, notes: readonly string[]): void;
  /** Records when a job first reached that moment. It is written with the next change. */
  noteTime(jobId: string, moment: 'leasedMs' | 'listedMs', nowMs: number): void;
  /** Counts a lease, once for each attempt of a shard. It is written with the next change. */
  addAttempt(jobId: string, shard: number, attempt: number): Promise<void>;
  /**
   * Marks the shard done and merges its results, once: 'duplicate' when it was done before, 'stale' when the epoch is
   * an older one or the job has ended. A source with an error in any of its tiles is quarantined as a whole and counts
   * nothing. Rejects with InvalidResultError, and changes nothing, if the results cannot be right (see check-tile.ts
   * and check-found.ts); any other rejection ends the job, because the answer is not stored.
   */
  commit(commit: ShardCommit): Promise<'committed' | 'duplicate' | 'stale'>;
  /**
   * Gives up on a shard: it is done, and its sources are quarantined with stage 'compute', that error and that number
   * of attempts. Does nothing for a shard that is done already.
   */
  quarantineShard(jobId: string, shard: number, error: string, attempts: number): Promise<void>;
  /**
   * Marks a shard done without a result, because its source is quarantined already. Does nothing if it was done before.
   */
  skipShard(jobId: string, shard: number): Promise<void>;
  /**
   * At most `atMost` settled sources, from index `from` up to the first that is not settled. Sources whose facts are
   * still being written are missing; all are there once `results` has resolved.
   */
  settled(jobId: string, from: number, atMost: number): Promise<SettledSources>;
  /** The answered shards among the `atMost` shards from number `from` on; `next` is `from` if there are no more. */
  answered(jobId: string, from: number, atMost: number): Promise<AnsweredShards>;
  /**
   * Withdraws the answer to a shard, because its part is lost or differs from the answer: the shard is to be done
   * again. Undefined if the shard is not done.
   */
  withdraw(jobId: string, shard: number): Promise<Withdrawn | undefined>;
  /** The merged results so far, by pipeline; undefined for a job that has ended. Some may not be durable yet. */
  mergedSoFar(jobId: string): MergedPart[] | undefined;
  /** The quarantined inputs of a running job so far, in no order; undefined for a job that has ended. */
  quarantinedSoFar(jobId: string): Iterable<QuarantinedRow> | undefined;
  getJob(jobId: string): Promise<JobRecord | undefined>;
  /** All jobs, newest first. Only the newest thousand ended jobs are kept. */
  listJobs(): Promise<JobRecord[]>;
  /**
   * Keeps what happened while these jobs ran, as texts by job. Jobs that another process leads are left out. Without a
   * registry nothing is kept.
   */
  keepHistories(histories: ReadonlyMap<string, string>): Promise<void>;
  /** The text that was kept for a job; undefined if there is none. */
  history(jobId: string): Promise<string | undefined>;
  /** Forgets these jobs, as far as they have ended for good. */
  forget(jobIds: readonly string[]): Promise<void>;
  /** The results of a job that has not ended, whose plan is complete and whose shards are all done. */
  results(jobId: string): Promise<JobResults>;
  /**
   * Resumes a job that an earlier process began, and resolves with its open shards. Rejects with one sentence if its
   * logs are lost, or belong to another version of the results.
   */
  resume(jobId: string): Promise<OpenShards>;
  /**
   * The steps that `addPlan` got before this process began; once `results` has resolved, all steps. Rejects if the log
   * cannot be read.
   */
  recordedPlan(jobId: string): AsyncIterable<PlanStep>;
  /** Why a job's results cannot be written to its folder for now; undefined if they can. */
  outputLack(jobId: string): OutputLack | undefined;
  /**
   * Gives up the results of a job that cannot be written to its folder for now, because the job is about to end:
   * promises that wait for them reject.
   */
  giveUp(jobId: string): Promise<void>;
  /** How long the oldest change has waited to be written, and why; 0 if none waits. */
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
