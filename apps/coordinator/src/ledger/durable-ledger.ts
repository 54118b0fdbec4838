import type { JobSpec } from '@halogrid/proto';
import { resultsVersion } from '@halogrid/service/version';
import { lackOf, type OutputLack } from '../job/output-lack.ts';
import type { PlanStep } from '../job/shard.ts';
import { LostLedgerError } from '../registry/ledger-errors.ts';
import { summarise } from './frame-summary.ts';
import { endedEntries, withFacts } from './job-record.ts';
import type { OpenSpool } from './job-sums.ts';
import type { Journal, Journaled } from './journal.ts';
import type {
  JobRecord,
  JobResults,
  Ledger,
  LedgerState,
  MergedPart,
  OpenShard,
  OtherJobs,
  SettledSources,
  ShardCommit,
  SourceOutcome,
} from './ledger.ts';
import { OpenJob } from './open-job.ts';
import { readJobs, readPlan } from './recover-job.ts';
import type { Change, Entry, EntryFilter } from './store/ledger-store.ts';
import { LostSourcesError, StoredSources } from './stored-sources.ts';
import type { Summaries } from './summaries.ts';

/** Jobs that have ended, and of which is still known how. */
const maxEndedJobs = 1000;

/** Where a job is kept. */
export interface JobHome {
  journal: Journal;
  /** Leaves a home that is for this job alone, when that has ended. It may be called again. */
  leave?: () => Promise<void>;
}

export interface DurableLedgerOptions {
  epoch: number;
  /** Where a new job is kept. */
  homeOf: (spec: JobSpec) => Promise<JobHome>;
  openSpool: OpenSpool;
  /** Makes of answers of frames what is kept of them; absent: that is done on this thread. */
  summaries?: Summaries;
  /** Told where what a home holds is found to be lost while it is in use. */
  lost?: (error: LostLedgerError) => void;
  /** Jobs that are led elsewhere, where there are such, and with them all that have ended. */
  others?: OtherJobs;
}

interface Led {
  home: JobHome;
  epoch?: number;
}
type OpenedJob = Led & { open: OpenJob };
type Job = OpenedJob | (Led & { open?: undefined; record: JobRecord });

/**
 * The ledger in memory, which decides, and in stores, which remember: each change is in a transaction with everything that was
 * true with it (see Journal). Histograms of sources go to a file of each job, which is synced before the transaction that
 * names places in it.
 */
export class DurableLedger implements Ledger {
  readonly #options: DurableLedgerOptions;
  /** In order of submission. */
  readonly #jobs = new Map<string, Job>();

  constructor(options: DurableLedgerOptions) {
    this.#options = options;
  }

  get epoch(): number {
    return this.#options.epoch;
  }

  /** Takes in the jobs that a home has. Rejects with DamagedLedgerError where it is damaged, and then takes none. */
  async load(home: JobHome): Promise<JobRecord[]> {
    const jobs: Job[] = [];
    for await (const stored of readJobs(home.journal.store, this.#options.openSpool)) {
      if (stored.hasEnded) jobs.push({ home, record: stored.record });
      else jobs.push(stored.job.facts.canGoOn ? { home, record: stored.job.record } : { home, open: stored.job });
    }
    const records = jobs.map(recordOf);
    for (const [i, { jobId }] of records.entries()) this.#jobs.set(jobId, jobs[i]!);
    return records;
  }

  /**
   * Takes over a job of a home that now belongs to this ledger, with a separate epoch. Resolves with undefined if the
   * job has ended, also if it may go on later. Rejects as `load`.
   */
  async adopt(home: JobHome, jobId: string, epoch: number): Promise<JobRecord | undefined> {
    for await (const stored of readJobs(home.journal.store, this.#options.openSpool, jobId)) {
      if (stored.hasEnded) return undefined;
      const { job } = stored;
      this.#jobs.set(jobId, job.facts.canGoOn ? { home, epoch, record: job.record } : { home, epoch, open: job });
      return job.facts.canGoOn ? undefined : job.record;
    }
    return undefined;
  }

  /** Whether it leads the job. */
  has(jobId: string): boolean {
    return this.#jobs.has(jobId);
  }

  epochOf(jobId: string): number {
    return this.#jobs.get(jobId)?.epoch ?? this.epoch;
  }

  async createJob({ jobId, spec, submittedMs }: { jobId: string; spec: JobSpec; submittedMs: number }): Promise<void> {
    if (this.#jobs.has(jobId)) throw new Error(`There is a job ${jobId} already`);
    const counts = { sources: 0, frames: 0, shards: 0, shardsDone: 0, attempts: 0, pixels: 0, quarantined: 0 };
    const facts = {
      jobId,
      state: 'pending' as const,
      submittedMs,
      finishedMs: 0,
      error: '',
      digest: '',
      planned: false,
    };
    const open = new OpenJob(spec, { ...facts, counts }, this.#options.openSpool);
    const home = await this.#options.homeOf(spec);
    this.#jobs.set(jobId, { home, open });
    await home.journal.write(open);
  }

  async setState(
    jobId: string,
    state: LedgerState,
    at: { nowMs: number; error?: string; digest?: string; canGoOn?: boolean },
  ): Promise<void> {
    const job = this.#job(jobId);
    if (!job.open) {
      if (job.record.canGoOn && state !== 'failed') await this.#end(jobId, job.home, ended(job.record, state, at));
      return;
    }
    const { open, home } = job;
    if (at.canGoOn) return this.#keep(jobId, job, ended(open.record, state, at));
    open.facts.state = state;
    if (state === 'finalising') open.noteTime('computedMs', at.nowMs);
    if (state !== 'complete' && state !== 'failed' && state !== 'cancelled') return home.journal.write(open);
    await this.#end(jobId, home, ended(open.record, state, at), open);
  }

  /** The job has ended: only its record stays. */
  async #end(jobId: string, home: JobHome, record: JobRecord, open?: OpenJob): Promise<void> {
    this.#jobs.set(jobId, { home, record });
    await open?.end();
    if (home.leave) await home.leave();
    else await home.journal.write(once([{ jobId }, ...endedEntries(record), ...this.#forgetOldest()]));
    const { others } = this.#options;
    if (!others) return;
    others.add(record);
    this.#jobs.delete(jobId);
  }

  /** The job has ended but may go on: its entries stay in the store. A ledger in the output folder stays as it is. */
  async #keep(jobId: string, job: OpenedJob, record: JobRecord): Promise<void> {
    const { open, ...rest } = job;
    const { home } = rest;
    await this.giveUp(jobId);
    await home.journal.written(open).catch(() => {});
    await open.end();
    this.#jobs.set(jobId, { ...rest, record: { ...record, canGoOn: true } });
    if (home.leave) return home.leave();
    const { state, finishedMs, error } = record;
    for (const entry of await this.#entries(home, { jobId, kind: 'job' })) {
      const kept = withFacts(entry, (facts) => ({ ...facts, state, finishedMs, error, canGoOn: true }));
      await home.journal.write(once([kept]));
    }
  }

  /** Reads entries of a store, again and again until that succeeds. */
  async #entries(home: JobHome, of: EntryFilter): Promise<Entry[]> {
    for (let retries = 0; ; retries++) {
      try {
        return await Array.fromAsync(home.journal.store.entries(of));
      } catch (error) {
        if (error instanceof LostLedgerError) this.#options.lost?.(error);
        await home.journal.pauseBeforeReading(error, retries);
      }
    }
  }

  /** Opens a failed job that can go on. Resolves with false if there is no such job. Rejects as `load`. */
  async goOn(jobId: string): Promise<boolean> {
    const job = this.#jobs.get(jobId);
    if (!job || job.open || !job.record.canGoOn) return false;
    for await (const stored of readJobs(job.home.journal.store, this.#options.openSpool, jobId)) {
      if (stored.hasEnded) break;
      const { job: open } = stored;
      delete open.facts.canGoOn;
      Object.assign(open.facts, { state: 'running', finishedMs: 0, error: '' });
      const { record: _, ...rest } = job;
      this.#jobs.set(jobId, { ...rest, open });
      await rest.home.journal.write(open);
      return true;
    }
    return false;
  }

  outputLack(jobId: string): OutputLack | undefined {
    const job = this.#jobs.get(jobId);
    if (!job?.open) return undefined;
    const { journal, leave } = job.home;
    return journal.lackOf(job.open) ?? (leave && lackOf(journal.behind().failure));
  }

  async giveUp(jobId: string): Promise<void> {
    const job = this.#jobs.get(jobId);
    if (!job?.open || !this.outputLack(jobId)) return;
    const { journal, leave } = job.home;
    journal.giveUp(job.open);
    await leave?.();
  }

  async addPlan(jobId: string, steps: PlanStep[], last: boolean): Promise<void> {
    const { open, home } = this.#job(jobId);
    if (!open) return;
    open.addPlan(steps, last);
    await home.journal.write(open);
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
    const { open, home } = this.#job(commit.jobId);
    if (!open || commit.epoch < this.epochOf(commit.jobId)) return 'stale';
    const order = open.frameOrder(commit);
    const { summaries } = this.#options;
    const summary = order && (summaries ? await summaries.summarise(order) : summarise(order));
    // It may have ended meanwhile.
    if (this.#jobs.get(commit.jobId)?.open !== open) return 'stale';
    if (!open.commit(commit, summary && { runs: order.runs, summary })) {
      await home.journal.written(open);
      return 'duplicate';
    }
    await home.journal.write(open);
    return 'committed';
  }

  async quarantineShard(jobId: string, shard: number, error: string, attempts: number): Promise<void> {
    const { open, home } = this.#job(jobId);
    if (!open) return;
    open.quarantineShard(shard, error, attempts);
    await home.journal.write(open);
  }

  async skipShard(jobId: string, shard: number): Promise<void> {
    const { open, home } = this.#job(jobId);
    if (!open) return;
    open.skipShard(shard);
    await home.journal.write(open);
  }

  async settled(jobId: string, from: number, atMost: number, part = 0): Promise<SettledSources> {
    return this.#job(jobId).open?.settled.read(from, atMost, part) ?? { next: from, runs: [] };
  }

  outcome(jobId: string, index: number): SourceOutcome | undefined {
    return this.#job(jobId).open?.merge.outcome(index);
  }

  mergedSoFar(jobId: string): MergedPart[] | undefined {
    return this.#jobs.get(jobId)?.open?.parts.map(({ name, merge: { counted, bins } }) => ({ name, counted, bins }));
  }

  quarantinedSoFar(jobId: string): Iterable<SourceOutcome> | undefined {
    return this.#jobs.get(jobId)?.open?.merge.quarantinedSources();
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

  /** Jobs that are led here, in order of submission; with those that have ended where it leads alone. */
  ledJobs(): JobRecord[] {
    return [...this.#jobs.values()].map(recordOf);
  }

  async results(jobId: string): Promise<JobResults> {
    const job = this.#job(jobId);
    if (!job.open) throw new Error(`Job ${jobId} has ended, its results are in ${job.record.spec.out}`);
    const { parts, ...results } = job.open.results();
    await job.home.journal.written(job.open);
    const plan = () => this.recordedPlan(jobId);
    return {
      ...results,
      plan,
      ...(parts && { parts: parts.map((part) => ({ name: part.name, results: { ...part.results, plan } })) }),
    };
  }

  async resume(jobId: string): Promise<OpenShard[]> {
    const { open } = this.#job(jobId);
    if (!open) throw new Error(`Job ${jobId} has ended`);
    if (open.resultsVersion !== resultsVersion) {
      throw new Error(
        `What is done of job ${jobId} is of results version ${open.resultsVersion}, this is ${resultsVersion}: run it again`,
      );
    }
    for (const { spool } of open.parts) await spool.recover();
    const waiting = new Set([...open.shards.values()].map(({ shard }) => shard.work.sources));
    for (const sources of waiting) if (sources instanceof StoredSources) sources.check();
    return [...open.shards.values()];
  }

  async *recordedPlan(jobId: string): AsyncIterable<PlanStep> {
    const { open, home } = this.#job(jobId);
    if (!open) return;
    let told = 0;
    for (let retries = 0; ; retries++) {
      try {
        let read = 0;
        for await (const step of readPlan(home.journal.store, open)) {
          // After a failure it is read from its beginning: what is recorded of a plan does not change.
          if (read++ < told) continue;
          told++;
          retries = 0;
          yield step;
        }
        return;
      } catch (error) {
        if (error instanceof LostSourcesError) throw error;
        if (error instanceof LostLedgerError) this.#options.lost?.(error);
        await home.journal.pauseBeforeReading(error, retries);
      }
    }
  }

  /** Closes the home of a job that has one of its own, because its folder is about to go: nothing more of it is written. */
  async leave(jobId: string): Promise<void> {
    await this.#jobs.get(jobId)?.home.leave?.();
  }

  /** From now on a store that cannot be written or read is not waited for. */
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
    // First, because it still writes what it was told.
    for (const { home } of this.#jobs.values()) await (home.leave?.() ?? home.journal.close());
    for (const { open } of this.#jobs.values()) await open?.end();
    await this.#options.summaries?.close();
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

  /** Forgets the oldest of the jobs that have ended, where there are too many. */
  #forgetOldest(): Change[] {
    const { others } = this.#options;
    const ended = [...this.#jobs.values()].flatMap((job) => (job.open ? [] : [job.record]));
    if (others) ended.unshift(...others.ended().sort((a, b) => a.submittedMs - b.submittedMs));
    const forgotten = ended.slice(0, -maxEndedJobs);
    others?.forget(forgotten.map(({ jobId }) => jobId));
    for (const { jobId } of forgotten) this.#jobs.delete(jobId);
    return forgotten.map(({ jobId }) => ({ jobId }));
  }
}

/** The record of a job that has ended in that state. */
function ended(
  { canGoOn: _, ...record }: JobRecord,
  state: LedgerState,
  { nowMs: finishedMs, error = '', digest = '' }: { nowMs: number; error?: string; digest?: string },
): JobRecord {
  return { ...record, state, finishedMs, error, digest };
}

function recordOf(job: Job): JobRecord {
  if (job.open) return job.open.record;
  return { ...job.record, counts: { ...job.record.counts } };
}

/** Changes that are written once, whatever follows. */
const once = (changes: Change[]): Journaled => ({ changes: () => changes, sync: async () => {} });
