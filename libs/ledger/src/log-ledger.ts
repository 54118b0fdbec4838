import { jobGrid, jobPipelines } from '@halogrid/jobs/accepted-job';
import type { OutputLack } from '@halogrid/jobs/output-lack';
import type { PlanStep } from '@halogrid/jobs/shard';
import type { Counts, JobPause, JobSpec } from '@halogrid/proto';
import { histogramShape } from '@halogrid/results/histogram-shape';
import { resultsVersion } from '@halogrid/service/version';
import { LoggedJob, type WritePart } from './job/logged-job.ts';
import type {
  AnsweredShards,
  JobRecord,
  JobResults,
  JobsElsewhere,
  Ledger,
  LedgerState,
  MergedPart,
  NewJob,
  OpenShards,
  QuarantinedRow,
  SettledSources,
  ShardCommit,
  Withdrawn,
} from './ledger/ledger.ts';
import { readRecord, statusOf } from './ledger/registered-record.ts';
import { isEnd } from './log/fact.ts';
import { countLogs, JobLog, type JobLogOptions } from './log/job-log.ts';
import type { Journal, Journaled } from './log/journal.ts';
import type { LogPlace } from './log/log-place.ts';
import type { LostLedgerError } from './registry/ledger-errors.ts';
import type { JobChange, LogMark, RegisteredJob, Registry } from './registry/registry.ts';

/** How many ended jobs are remembered unless more are asked for. */
const maxEndedJobs = 1000;

/** A place for jobs: a registry, or a folder with logs. */
export interface LogHome {
  journal: Journal;
  /** Absent if one process after another leads a job, and only its logs know of it. */
  registry?: Registry;
  /** The logs of a job. */
  logsOf: (jobId: string, spec: JobSpec) => LogPlace;
  /** Writes the parts of a job that no node writes. */
  partsOf: (spec: JobSpec, jobId: string) => WritePart;
  /** Leaves a home for a single job, after that has ended. May be called again. */
  leave?: () => Promise<void>;
}

export interface LogLedgerOptions {
  epoch: number;
  /** Where a new job is kept. */
  homeOf: (spec: JobSpec) => Promise<LogHome>;
  /** Called when a home in use is found to be lost. */
  lost?: (error: LostLedgerError) => void;
  /** Jobs that other coordinators lead, and all ended jobs; absent if there can be no other coordinators. */
  others?: JobsElsewhere | undefined;
  /** The registry that keeps histories; absent if none does. */
  registry?: Registry | undefined;
  /** How many ended jobs are remembered. */
  mostEnded?: number | undefined;
}

interface Led {
  home: LogHome;
  epoch?: number;
}
type OpenedJob = Led & { open: LoggedJob };
/** A job that has ended, or whose log is not read yet: then `marks` says how much of it counts. */
type ClosedJob = Led & { open?: undefined; record: JobRecord; marks?: readonly LogMark[] };
type Job = OpenedJob | ClosedJob;

/**
 * The ledger: decisions in memory, facts in logs, and a registry that says how much of the logs counts (see Journal).
 * The log of a job of an earlier process is read on the first request for more than its row in the registry.
 */
export class LogLedger implements Ledger {
  readonly #options: LogLedgerOptions;
  /** In order of submission. */
  readonly #jobs = new Map<string, Job>();

  constructor(options: LogLedgerOptions) {
    this.#options = options;
  }

  get epoch(): number {
    return this.#options.epoch;
  }

  /**
   * Loads the jobs of a home with a registry. Rejects with DamagedLedgerError if it is damaged, and then loads none.
   */
  async load(home: LogHome): Promise<JobRecord[]> {
    const jobs = await Array.fromAsync(home.registry!.jobs());
    const known = jobs
      .map((job) => this.#closed(home, job))
      .sort((a, b) => a.record.submittedMs - b.record.submittedMs);
    for (const job of known) this.#jobs.set(job.record.jobId, job);
    return known.map(({ record }) => record);
  }

  /**
   * Loads the job whose logs are in its folder, and which is in no registry. Resolves with undefined if the logs do not
   * have it. Rejects with DamagedLogError. `torn` is called if the end of a log was cut off.
   */
  async loadFolder(
    home: LogHome,
    { jobId, spec }: { jobId: string; spec: JobSpec },
    torn?: (epoch: number, offset: number) => void,
  ): Promise<JobRecord | undefined> {
    const marks = await countLogs(home.logsOf(jobId, spec), torn);
    if (!marks) return undefined;
    const open = await this.#takeOver(home, { jobId, spec }, marks);
    this.#jobs.set(jobId, { home, open });
    return open.record;
  }

  /**
   * Takes over a job of a home that now belongs to this ledger, with a separate epoch. Resolves with undefined if the
   * job has ended, also if it may go on later. Rejects as `load`.
   */
  async adopt(home: LogHome, jobId: string, epoch: number): Promise<JobRecord | undefined> {
    for await (const job of home.registry!.jobs([jobId])) {
      if (job.leader === undefined) return undefined;
      const closed = { ...this.#closed(home, job), epoch };
      this.#jobs.set(jobId, closed);
      return closed.record.canGoOn ? undefined : closed.record;
    }
    return undefined;
  }

  #closed(home: LogHome, { spec, status, leader, marks, epoch }: RegisteredJob): ClosedJob {
    const record = readRecord(status, JSON.parse(spec));
    return { home, record, ...(leader !== undefined && { marks }), ...(epoch !== this.epoch && { epoch }) };
  }

  /** Whether it leads the job. */
  has(jobId: string): boolean {
    return this.#jobs.has(jobId);
  }

  epochOf(jobId: string): number {
    return this.#jobs.get(jobId)?.epoch ?? this.epoch;
  }

  logEpochOf(jobId: string): number {
    return this.#jobs.get(jobId)?.open?.log.epoch ?? this.epochOf(jobId);
  }

  async confirm(jobId: string): Promise<void> {
    const { journal, registry } = this.#job(jobId).home;
    // The registry refuses every write of a process that no longer leads.
    if (registry) await journal.write(once([]));
  }

  async createJob({ jobId, spec, submittedMs, owner }: NewJob): Promise<void> {
    if (this.#jobs.has(jobId)) throw new Error(`There is a job ${jobId} already`);
    const home = await this.#options.homeOf(spec);
    const log = JobLog.create(await this.#logOptions(home, jobId, spec), submittedMs, owner);
    const open = new LoggedJob(jobId, spec, log, home.partsOf(spec, jobId), false);
    this.#jobs.set(jobId, { home, open });
    await home.journal.write(open);
  }

  /** Changes of one turn are written before later ones, also if the ledger is about to be closed. */
  #openNow(jobId: string): OpenedJob | undefined {
    const job = this.#job(jobId);
    return job.open && job;
  }

  /** Opens the log of a job that has not ended. Rejects with one sentence if it is lost. */
  async #opened(jobId: string): Promise<OpenedJob | undefined> {
    const job = this.#job(jobId);
    if (job.open) return job;
    if (!job.marks || job.record.canGoOn) return undefined;
    const { record, marks, ...led } = job;
    const opened = { ...led, open: await this.#takeOver(job.home, record, marks) };
    // It may have ended or been opened meanwhile.
    const now = this.#job(jobId);
    if (now !== job) {
      await opened.open.close();
      return now.open ? now : undefined;
    }
    this.#jobs.set(jobId, opened);
    return opened;
  }

  /** Changes a job that has not ended, in this turn if it is open, and resolves when that is durable. */
  async #change(jobId: string, act: (open: LoggedJob) => void): Promise<void> {
    const job = this.#openNow(jobId) ?? (await this.#opened(jobId));
    if (!job) return;
    act(job.open);
    await job.home.journal.write(job.open);
  }

  async #takeOver(
    home: LogHome,
    { jobId, spec }: { jobId: string; spec: JobSpec },
    marks: readonly LogMark[],
  ): Promise<LoggedJob> {
    const options = await this.#logOptions(home, jobId, spec);
    const log = await JobLog.takeOver(options, marks).catch((error: Error) => {
      throw new Error(`The results so far of job ${jobId} are lost: ${error.message}`, { cause: error });
    });
    return new LoggedJob(jobId, spec, log, home.partsOf(spec, jobId), home.registry !== undefined);
  }

  async #logOptions(home: LogHome, jobId: string, spec: JobSpec): Promise<JobLogOptions> {
    const place = home.logsOf(jobId, spec);
    // Without a registry, the logs number the leaders.
    const epoch = home.registry ? this.epochOf(jobId) : ((await place.epochs()).at(-1) ?? 0) + 1;
    const shapes = jobPipelines(spec).map((pipeline) => histogramShape(pipeline, jobGrid(spec)));
    return { place, epoch, shapes };
  }

  async setState(
    jobId: string,
    state: LedgerState,
    at: { nowMs: number; error?: string; digest?: string; canGoOn?: boolean; counts?: Counts },
  ): Promise<void> {
    const job = this.#job(jobId);
    if (!job.open) {
      const isOver = job.record.finishedMs > 0 && !job.record.canGoOn;
      // A job whose log cannot be read may still end.
      if (isEnd(state) && !isOver && !(job.record.canGoOn && state === 'failed')) {
        await this.#end(jobId, job.home, ended(job.record, state, at));
      }
      return;
    }
    const { open, home } = job;
    // A job without written facts cannot go on.
    if (at.canGoOn && open.log.isBegun) return this.#keep(jobId, job, ended(open.record, state, at));
    open.setState(state, at);
    if (!isEnd(state)) return home.journal.write(open);
    await this.#end(jobId, home, ended(open.record, state, at), open);
  }

  /** The job has ended: only its record stays. */
  async #end(jobId: string, home: LogHome, record: JobRecord, open?: LoggedJob): Promise<void> {
    this.#jobs.set(jobId, { home, record });
    await open?.end();
    if (home.leave) await home.leave();
    else {
      const end: JobChange = { kind: 'end', jobId, status: statusOf(record) };
      await home.journal.write(once([...(open?.unknown ?? []), end, ...this.#forgetOldest()]));
    }
    const { others } = this.#options;
    if (!others) return;
    others.add(record);
    this.#jobs.delete(jobId);
  }

  /** The job has ended but may go on: its logs stay as they are, and count. */
  async #keep(jobId: string, job: OpenedJob, record: JobRecord): Promise<void> {
    const { open, ...rest } = job;
    const { home } = rest;
    await this.giveUp(jobId);
    await home.journal.written(open).catch(() => {});
    await open.end();
    const { marks } = open.log;
    const kept: JobRecord = { ...record, canGoOn: true };
    this.#jobs.set(jobId, { ...rest, record: kept, marks });
    if (home.leave) return home.leave();
    await home.journal.write(once([{ kind: 'note', jobId, status: statusOf(kept), marks }]));
  }

  /** Opens a failed job that can go on. Resolves with false if there is no such job. Rejects as `load`. */
  async goOn(jobId: string): Promise<boolean> {
    const job = this.#jobs.get(jobId);
    if (!job || job.open || !job.record.canGoOn) return false;
    const { record, marks, ...rest } = job;
    const open = await this.#takeOver(job.home, record, marks!);
    open.setState('running', { nowMs: 0 });
    open.setPaused(undefined);
    this.#jobs.set(jobId, { ...rest, open });
    await rest.home.journal.write(open);
    return true;
  }

  outputLack(jobId: string): OutputLack | undefined {
    const job = this.#jobs.get(jobId);
    if (!job?.open) return undefined;
    return job.home.journal.lackOf(job.open);
  }

  async giveUp(jobId: string): Promise<void> {
    const job = this.#jobs.get(jobId);
    if (!job?.open || !this.outputLack(jobId)) return;
    const { journal, leave } = job.home;
    journal.giveUp(job.open);
    await leave?.();
  }

  async setPaused(jobId: string, paused: JobPause | undefined): Promise<void> {
    await this.#change(jobId, (open) => open.setPaused(paused));
  }

  async addPlan(jobId: string, steps: PlanStep[], last: boolean): Promise<void> {
    await this.#change(jobId, (open) => open.addPlan(steps, last));
  }

  setNotes(jobId: string, notes: readonly string[]): void {
    this.#job(jobId).open?.setNotes(notes);
  }

  noteTime(jobId: string, moment: 'leasedMs' | 'listedMs', nowMs: number): void {
    this.#job(jobId).open?.noteTime(moment, nowMs);
  }

  async addAttempt(jobId: string, shard: number, attempt: number): Promise<void> {
    this.#job(jobId).open?.addAttempt(shard, attempt);
  }

  async commit(commit: ShardCommit): Promise<'committed' | 'duplicate' | 'stale'> {
    const job = this.#openNow(commit.jobId) ?? (await this.#opened(commit.jobId));
    if (!job) return 'stale';
    const { open, home } = job;
    if (commit.epoch < this.epochOf(commit.jobId)) return 'stale';
    if (!open.commit(commit)) {
      await home.journal.written(open);
      return 'duplicate';
    }
    await home.journal.write(open);
    return 'committed';
  }

  async quarantineShard(jobId: string, shard: number, error: string, attempts: number): Promise<void> {
    await this.#change(jobId, (open) => open.quarantineShard(shard, error, attempts));
  }

  async skipShard(jobId: string, shard: number): Promise<void> {
    await this.#change(jobId, (open) => open.skipShard(shard));
  }

  async settled(jobId: string, from: number, atMost: number): Promise<SettledSources> {
    return this.#job(jobId).open?.settled.settled(from, atMost) ?? { next: from, runs: [] };
  }

  async answered(jobId: string, from: number, atMost: number): Promise<AnsweredShards> {
    return this.#job(jobId).open?.settled.answered(from, atMost) ?? { next: from, shards: [] };
  }

  async withdraw(jobId: string, shard: number): Promise<Withdrawn | undefined> {
    const job = this.#openNow(jobId);
    const withdrawn = job?.open.withdraw(shard);
    if (withdrawn) await job!.home.journal.write(job!.open);
    return withdrawn;
  }

  mergedSoFar(jobId: string): MergedPart[] | undefined {
    const open = this.#jobs.get(jobId)?.open;
    return open?.parts.map(({ name }, i) => {
      const { counted, totals } = open.log.state.parts[i]!;
      return { name, counted, bins: totals.sums };
    });
  }

  quarantinedSoFar(jobId: string): Iterable<QuarantinedRow> | undefined {
    return this.#jobs.get(jobId)?.open?.settled.quarantined();
  }

  async getJob(jobId: string): Promise<JobRecord | undefined> {
    const other = this.#jobs.has(jobId) ? undefined : await this.#options.others?.get(jobId);
    // The job may have been taken over meanwhile.
    const job = this.#jobs.get(jobId);
    return job ? recordOf(job) : other;
  }

  async listJobs(): Promise<JobRecord[]> {
    const { others } = this.#options;
    if (!others) return this.ledJobs().reverse();
    const jobs = [...(await others.list()).filter(({ jobId }) => !this.#jobs.has(jobId)), ...this.ledJobs()];
    return jobs.sort((a, b) => b.submittedMs - a.submittedMs);
  }

  /** Jobs that are led here, in order of submission; with ended jobs, if this process is the only leader. */
  ledJobs(): JobRecord[] {
    return [...this.#jobs.values()].map(recordOf);
  }

  async results(jobId: string): Promise<JobResults> {
    const job = this.#openNow(jobId) ?? (await this.#opened(jobId));
    if (!job) throw new Error(`Job ${jobId} has ended, its results are in ${recordOf(this.#job(jobId)).spec.out}`);
    const { parts, ...results } = job.open.results();
    // Some whole images may not be written yet.
    await job.home.journal.write(job.open);
    const plan = () => this.recordedPlan(jobId);
    const settled: JobResults['settled'] = (from, atMost) => this.settled(jobId, from, atMost);
    const read = { plan, settled };
    const each = parts?.map((part) => ({ name: part.name, results: { ...part.results, ...read } }));
    return { ...results, ...read, ...(each && { parts: each }) };
  }

  async resume(jobId: string): Promise<OpenShards> {
    const job = this.#openNow(jobId) ?? (await this.#opened(jobId));
    if (!job) throw new Error(`Job ${jobId} has ended`);
    const { resultsVersion: version } = job.open.log.state;
    if (version !== resultsVersion) {
      throw new Error(
        `What is done of job ${jobId} is of results version ${version}, this is ${resultsVersion}: run it again`,
      );
    }
    return job.open.takeUp();
  }

  async *recordedPlan(jobId: string): AsyncIterable<PlanStep> {
    const job = this.#openNow(jobId) ?? (await this.#opened(jobId));
    if (!job) return;
    yield* job.open.plan.steps();
  }

  /**
   * Closes the home of a job that has its own, because its folder is about to be removed: nothing more is written
   * there.
   */
  async leave(jobId: string): Promise<void> {
    await this.#jobs.get(jobId)?.home.leave?.();
  }

  /** From now on the ledger does not wait for a log or a registry that cannot be written. */
  stopRetrying(): void {
    for (const { home } of this.#jobs.values()) home.journal.stopRetrying();
  }

  behind(): { ms: number; failure: string | undefined } {
    let longest: ReturnType<Journal['behind']> = { ms: 0, failure: undefined };
    for (const journal of this.#journals()) {
      const behind = journal.behind();
      if (behind.ms > longest.ms) longest = behind;
    }
    return longest;
  }

  async close(): Promise<void> {
    // Journals close first, because they still write earlier changes.
    for (const { home } of this.#jobs.values()) await (home.leave?.() ?? home.journal.close());
    for (const { open } of this.#jobs.values()) await open?.close();
    this.#jobs.clear();
  }

  #journals(): Set<Journal> {
    return new Set([...this.#jobs.values()].flatMap(({ open, home }) => (open ? [home.journal] : [])));
  }

  #job(jobId: string): Job {
    const job = this.#jobs.get(jobId);
    if (!job) throw new Error(`There is no job ${jobId}`);
    return job;
  }

  async keepHistories(histories: ReadonlyMap<string, string>): Promise<void> {
    await this.#options.registry?.writeHistories(this.epoch, histories);
  }

  async history(jobId: string): Promise<string | undefined> {
    return this.#options.registry?.history(jobId);
  }

  async forget(jobIds: readonly string[]): Promise<void> {
    const { others, homeOf } = this.#options;
    const known = await Promise.all(jobIds.map((jobId) => this.getJob(jobId)));
    const ended = known.flatMap((job) => (job && job.finishedMs > 0 && !job.canGoOn ? [job] : []));
    if (ended.length === 0) return;
    const { journal, registry, leave } = await homeOf(ended[0]!.spec);
    others?.forget(ended.map(({ jobId }) => jobId));
    for (const { jobId } of ended) this.#jobs.delete(jobId);
    if (registry) await journal.write(once(ended.map(({ jobId }) => ({ kind: 'remove', jobId }))));
    else await leave?.();
  }

  /** Forgets the oldest ended jobs if there are too many. */
  #forgetOldest(): JobChange[] {
    const { others, mostEnded = maxEndedJobs } = this.#options;
    const ended = [...this.#jobs.values()].flatMap((job) =>
      job.open || job.record.finishedMs === 0 ? [] : [job.record],
    );
    if (others) ended.unshift(...others.ended().sort((a, b) => a.submittedMs - b.submittedMs));
    const forgotten = ended.slice(0, -mostEnded);
    others?.forget(forgotten.map(({ jobId }) => jobId));
    for (const { jobId } of forgotten) this.#jobs.delete(jobId);
    return forgotten.map(({ jobId }) => ({ kind: 'remove', jobId }));
  }
}

/** The record of a job that has ended in that state. */
function ended(
  { canGoOn: _, paused: __, ...record }: JobRecord,
  state: LedgerState,
  at: { nowMs: number; error?: string; digest?: string; counts?: Counts },
): JobRecord {
  const { nowMs: finishedMs, error = '', digest = '', counts = record.counts } = at;
  return { ...record, state, finishedMs, error, digest, counts };
}

function recordOf(job: Job): JobRecord {
  if (job.open) return job.open.record;
  return { ...job.record, counts: { ...job.record.counts } };
}

/** Changes that are written once. */
const once = (changes: JobChange[]): Journaled => ({ append: async () => changes });
