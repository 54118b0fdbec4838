import { createPipeline } from '@halogrid/kernels';
import type { JobSpec } from '@halogrid/proto';
import { jobGrid } from '../job-grid.ts';
import type { PlanStep, ShardWork } from '../shard.ts';
import { checkAnswer } from './check-answer.ts';
import { jobDigest, jobLine } from './digest.ts';
import { type HistogramShape, histogramShape } from './histogram-shape.ts';
import { HistogramSpool } from './histogram-spool.ts';
import type { JobCounts, JobRecord, JobResults, Ledger, LedgerState, SettledSources, ShardCommit } from './ledger.ts';
import { Merge } from './merge.ts';

/** A shard of a job that has not ended. */
interface ShardState {
  /** Undefined once done. */
  work: ShardWork | undefined;
  attempts: number;
}

/** What is kept of a job until it ends. */
interface OpenJob {
  line: string;
  shape: HistogramShape;
  shards: ShardState[];
  merge: Merge;
  /** Histograms of the sources that the merge says are done; undefined where the pipeline has none. */
  spool: HistogramSpool | undefined;
  stageSeconds: Record<string, number>;
  nodes: Map<string, { name: string; device: string; shards: number }>;
}

interface Job {
  record: Omit<JobRecord, 'counts'>;
  /** Those that the merge does not know; the last ones once the job has ended. */
  counts: JobCounts;
  /** Undefined once the job has ended. */
  open: OpenJob | undefined;
}

/** The journal of a coordinator that forgets its jobs when it ends. Histograms of sources go to a file of each job. */
export class MemoryLedger implements Ledger {
  readonly epoch: number;
  /** In order of submission. */
  readonly #jobs = new Map<string, Job>();
  readonly #spoolPath: (spec: JobSpec) => string;

  /** `spoolPath` names a file that is not there yet, in a folder that is there while the job runs. */
  constructor(spoolPath: (spec: JobSpec) => string, epoch = 1) {
    this.#spoolPath = spoolPath;
    this.epoch = epoch;
  }

  async createJob({ jobId, spec, submittedMs }: { jobId: string; spec: JobSpec; submittedMs: number }): Promise<void> {
    if (this.#jobs.has(jobId)) throw new Error(`There is a job ${jobId} already`);
    const pipeline = createPipeline(spec.pipeline?.operations ?? []);
    const grid = jobGrid(spec);
    const shape = histogramShape(pipeline, grid);
    const spool = shape.bins > 0 ? new HistogramSpool(this.#spoolPath(spec)) : undefined;
    this.#jobs.set(jobId, {
      record: { jobId, spec, state: 'pending', submittedMs, finishedMs: 0, error: '', digest: '', planned: false },
      counts: { sources: 0, frames: 0, shards: 0, shardsDone: 0, attempts: 0, pixels: 0, quarantined: 0 },
      open: {
        line: jobLine(pipeline, grid),
        shape,
        shards: [],
        merge: new Merge(shape, (source, bins) => spool?.append(source, bins)),
        spool,
        stageSeconds: {},
        nodes: new Map(),
      },
    });
  }

  async setState(
    jobId: string,
    state: LedgerState,
    at: { nowMs: number; error?: string; digest?: string },
  ): Promise<void> {
    const job = this.#job(jobId);
    job.record.state = state;
    if (state !== 'complete' && state !== 'failed' && state !== 'cancelled') return;
    Object.assign(job.record, { finishedMs: at.nowMs, error: at.error ?? '', digest: at.digest ?? '' });
    const spool = job.open?.spool;
    job.open = undefined;
    await spool?.close();
  }

  async addPlan(jobId: string, steps: PlanStep[], last: boolean): Promise<void> {
    const { record, counts, open } = this.#job(jobId);
    if (!open) return;
    for (const step of steps) {
      switch (step.kind) {
        case 'source':
          open.merge.addSource(step.uri, step.name, step.tiles, step.video);
          break;
        case 'quarantine':
          open.merge.quarantine(step.index, { stage: step.stage, error: step.error, attempts: 0, shard: -1 });
          break;
        case 'shard':
          open.shards[step.shard.shard] = { work: step.shard.work, attempts: 0 };
          break;
      }
    }
    counts.shards = open.shards.length;
    takeCounts(counts, open.merge);
    if (last) record.planned = true;
  }

  async addAttempt(jobId: string, shard: number, attempt: number): Promise<void> {
    const { counts, open } = this.#job(jobId);
    const state = open?.shards[shard];
    if (!state || attempt <= state.attempts) return;
    counts.attempts += attempt - state.attempts;
    state.attempts = attempt;
  }

  async commit(commit: ShardCommit): Promise<'committed' | 'duplicate' | 'stale'> {
    const { counts, open } = this.#job(commit.jobId);
    if (!open || commit.epoch < this.epoch) return 'stale';
    const state = this.#shard(open, commit.jobId, commit.shard);
    if (!state.work) return 'duplicate';
    checkAnswer(state.work, commit, open.shape);

    state.work = undefined;
    counts.shardsDone++;
    open.merge.add(commit.results);
    const { attempt: attempts, shard } = commit;
    for (const { source, stage, error } of commit.errors) {
      open.merge.quarantine(source, { stage, error, attempts, shard });
    }
    takeCounts(counts, open.merge);
    for (const [stage, seconds] of Object.entries(commit.stageSeconds)) {
      open.stageSeconds[stage] = (open.stageSeconds[stage] ?? 0) + seconds;
    }
    const { name, device } = commit.node;
    const key = `${name}\n${device}`;
    open.nodes.set(key, { name, device, shards: (open.nodes.get(key)?.shards ?? 0) + 1 });
    // All of the above is one step, as nothing else runs meanwhile. The disk is waited for after it, and a failure of it
    // ends the job.
    await open.spool?.room();
    return 'committed';
  }

  async quarantineShard(jobId: string, shard: number, error: string, attempts: number): Promise<void> {
    const { counts, open } = this.#job(jobId);
    if (!open) return;
    const state = this.#shard(open, jobId, shard);
    if (!state.work) return;
    const sources = state.work.kind === 'tile' ? [state.work.source] : state.work.sources;
    state.work = undefined;
    counts.shardsDone++;
    for (const { index } of sources) open.merge.quarantine(index, { stage: 'compute', error, attempts, shard });
    takeCounts(counts, open.merge);
  }

  async settled(jobId: string, from: number, atMost: number): Promise<SettledSources> {
    const { open } = this.#job(jobId);
    const done: SettledSources['done'] = [];
    let next = from;
    for (; next - from < atMost; next++) {
      const source = open?.merge.settled(next);
      if (!source) break;
      if (source.state === 'quarantined' || !open?.spool) continue;
      const place = open.spool.written(next);
      if (!place) break;
      const { uri, video } = source;
      done.push(video ? { uri, video, ...place } : { uri, ...place });
    }
    return { next, done, file: open?.spool?.path ?? '' };
  }

  async getJob(jobId: string): Promise<JobRecord | undefined> {
    const job = this.#jobs.get(jobId);
    return job && snapshot(job);
  }

  async listJobs(): Promise<JobRecord[]> {
    return [...this.#jobs.values()].map(snapshot).reverse();
  }

  async results(jobId: string): Promise<JobResults> {
    const job = this.#job(jobId);
    const { counts, open, record } = job;
    if (!open) throw new Error(`Job ${jobId} has ended, its results are in ${record.spec.out}`);
    if (!record.planned || counts.shardsDone < counts.shards) {
      throw new Error(`Job ${jobId} has ${counts.shardsDone} of ${counts.shards} shards done and is not ready`);
    }
    await open.spool?.flush();
    return {
      job: snapshot(job),
      sources: open.merge.outcomes(),
      counted: open.merge.counted,
      bins: open.merge.bins.slice(),
      stageSeconds: { ...open.stageSeconds },
      nodes: [...open.nodes.keys()].sort().map((key) => ({ ...open.nodes.get(key)! })),
      digest: jobDigest(open.line, open.merge.digests()),
    };
  }

  async close(): Promise<void> {
    for (const { open } of this.#jobs.values()) await open?.spool?.close();
    this.#jobs.clear();
  }

  #job(jobId: string): Job {
    const job = this.#jobs.get(jobId);
    if (!job) throw new Error(`There is no job ${jobId}`);
    return job;
  }

  #shard(open: OpenJob, jobId: string, shard: number): ShardState {
    const state = open.shards[shard];
    if (!state) throw new Error(`Job ${jobId} has no shard ${shard}`);
    return state;
  }
}

function takeCounts(counts: JobCounts, merge: Merge): void {
  counts.sources = merge.sources;
  counts.frames = merge.done;
  counts.pixels = merge.pixels;
  counts.quarantined = merge.quarantined;
}

const snapshot = ({ record, counts }: Job): JobRecord => ({ ...record, counts: { ...counts } });
