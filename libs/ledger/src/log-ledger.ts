import type { OutputLack } from '@halogrid/jobs/output-lack';
import type { PlanStep } from '@halogrid/jobs/shard';
import type { Counts, JobPause, JobSpec } from '@halogrid/proto';
import { resultsVersion } from '@halogrid/service/version';
import type { LoggedJob } from './job/logged-job.ts';
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
import { statusOf } from './ledger/registered-record.ts';
import { type Job, LedgerJobs, type LogHome, type OpenedJob } from './ledger-jobs.ts';
import { isEnd } from './log/fact.ts';
import type { Journal, Journaled } from './log/journal.ts';
import type { LostLedgerError } from './registry/ledger-errors.ts';
import type { JobChange, Registry } from './registry/registry.ts';

/** How many ended jobs are remembered unless more are asked for. */
const maxEndedJobs = 1000;

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

/**
 * The ledger: decisions in memory, facts in logs, and a registry that says how much of the logs counts (see Journal).
 */
export class LogLedger implements Ledger {
  readonly #options: LogLedgerOptions;
  readonly #jobs: LedgerJobs;

  constructor(options: LogLedgerOptions) {
    this.#options = options;
    this.#jobs = new LedgerJobs(options.epoch);
  }

  get epoch(): number {
    return this.#options.epoch;
  }

  readonly load: LedgerJobs['load'] = (home) => this.#jobs.load(home);
  readonly loadFolder: LedgerJobs['loadFolder'] = (home, job, torn) => this.#jobs.loadFolder(home, job, torn);
  readonly adopt: LedgerJobs['adopt'] = (home, jobId, epoch) => this.#jobs.adopt(home, jobId, epoch);

  /** Whether it leads the job. */
  has(jobId: string): boolean {
    return this.#jobs.has(jobId);
  }

  epochOf(jobId: string): number {
    return this.#jobs.epochOf(jobId);
  }

  logEpochOf(jobId: string): number {
    return this.#jobs.logEpochOf(jobId);
  }

  async confirm(jobId: string): Promise<void> {
    const { journal, registry } = this.#jobs.led(jobId).home;
    // The registry refuses every write of a process that no longer leads.
    if (registry) await journal.write(once([]));
  }

  async createJob(job: NewJob): Promise<void> {
    const { jobId, spec } = job;
    if (this.#jobs.has(jobId)) throw new Error(`There is a job ${jobId} already`);
    const home = await this.#options.homeOf(spec);
    const open = await this.#jobs.start(home, job);
    this.#jobs.set(jobId, { home, open });
    await home.journal.write(open);
  }

  /** Changes a job that has not ended, in this turn if it is open, and resolves when that is durable. */
  async #change(jobId: string, act: (open: LoggedJob) => void): Promise<void> {
    const job = this.#jobs.openNow(jobId) ?? (await this.#jobs.opened(jobId));
    if (!job) return;
    act(job.open);
    await job.home.journal.write(job.open);
  }

  async setState(
    jobId: string,
    state: LedgerState,
    at: { nowMs: number; error?: string; digest?: string; canGoOn?: boolean; counts?: Counts },
  ): Promise<void> {
    const job = this.#jobs.led(jobId);
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

  /** Opens a failed job that can go on. Resolves with false if there is no such job. Rejects if its log is lost. */
  async goOn(jobId: string): Promise<boolean> {
    const job = this.#jobs.get(jobId);
    if (!job || job.open || !job.record.canGoOn) return false;
    const { record, marks, ...rest } = job;
    const open = await this.#jobs.takeOver(job.home, record, marks!);
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
    this.#jobs.led(jobId).open?.setNotes(notes);
  }

  noteTime(jobId: string, moment: 'leasedMs' | 'listedMs', nowMs: number): void {
    this.#jobs.led(jobId).open?.noteTime(moment, nowMs);
  }

  async addAttempt(jobId: string, shard: number, attempt: number): Promise<void> {
    this.#jobs.led(jobId).open?.addAttempt(shard, attempt);
  }

  async commit(commit: ShardCommit): Promise<'committed' | 'duplicate' | 'stale'> {
    const job = this.#jobs.openNow(commit.jobId) ?? (await this.#jobs.opened(commit.jobId));
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
    return this.#jobs.led(jobId).open?.settled.settled(from, atMost) ?? { next: from, runs: [] };
  }

  async answered(jobId: string, from: number, atMost: number): Promise<AnsweredShards> {
    return this.#jobs.led(jobId).open?.settled.answered(from, atMost) ?? { next: from, shards: [] };
  }

  async withdraw(jobId: string, shard: number): Promise<Withdrawn | undefined> {
    const job = this.#jobs.openNow(jobId);
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
    const job = this.#jobs.openNow(jobId) ?? (await this.#jobs.opened(jobId));
    if (!job) throw new Error(`Job ${jobId} has ended, its results are in ${recordOf(this.#jobs.led(jobId)).spec.out}`);
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
    const job = this.#jobs.openNow(jobId) ?? (await this.#jobs.opened(jobId));
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
    const job = this.#jobs.openNow(jobId) ?? (await this.#jobs.opened(jobId));
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
