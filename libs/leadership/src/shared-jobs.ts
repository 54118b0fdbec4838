import { Refusal } from '@halogrid/jobs/refusal';
import { shortened } from '@halogrid/kernels';
import {
  type Adopted,
  type JobRecord,
  type JobShares,
  LostLedgerError,
  type Registry,
  readRecord,
  type SharedView,
} from '@halogrid/ledger';
import type { Log } from '@halogrid/service';
import { chooseAdoptions, ownJobs } from './choose-adoptions.ts';
import { askEveryMs, leaseMs } from './lease-keeping.ts';
import { Questions } from './questions.ts';
import { graceMs, hear, type Silence } from './silence.ts';

/** The jobs that this coordinator leads. */
export interface OwnJobs {
  /** Whether it works on this job, or did until the job ended. */
  has(jobId: string): boolean;
  /** Continues a job that it has adopted. Rejects if the job cannot be read; it is then tried again. */
  takeUp(job: Adopted): Promise<void>;
  cancel(jobId: string): void;
  /** A text about each of its jobs, for users who ask other coordinators. */
  now(): ReadonlyMap<string, string>;
}

export interface SharedJobsOptions {
  registry: Registry;
  shares: JobShares;
  epoch: number;
  log: Log;
  /** A clock that never goes back. */
  nowMs: () => number;
  /** Called if the ledger is lost: this process can only end. */
  lost: (error: LostLedgerError) => void;
  /**
   * Calls `task` after `ms` milliseconds, and returns a function that cancels this. Uses the system's timers unless
   * given.
   */
  after?: (ms: number, task: () => void) => () => void;
}

/** Answers about another coordinator's job are at most so many milliseconds old, */
const freshMs = 250;
/** … unless the registry does not answer in this time: then they are the last that is known. */
const patienceMs = 1_000;

/** A limit in milliseconds that is longer than any lease and the wait that follows it. */
const mostDoubtMs = 2 * leaseMs + graceMs;

interface Known {
  record: JobRecord;
  hasEnded: boolean;
  writes: number;
  now: string;
}

/**
 * The jobs of a registry that several coordinators lead: looks at it once a second, takes over jobs that nobody leads,
 * ends its own jobs that were cancelled through another coordinator, and knows the jobs of the others.
 */
export class SharedJobs {
  /** Questions between coordinators about their jobs. */
  readonly questions: Questions;
  readonly #options: SharedJobsOptions;
  /** All ended jobs, and the jobs of other coordinators. */
  readonly #known = new Map<string, Known>();
  /** The text about each of this coordinator's jobs that the registry has. */
  readonly #told = new Map<string, string>();
  #led: OwnJobs | undefined;
  #view: SharedView = { members: [], jobs: [], questions: [] };
  /** For how long each member was silent. */
  #silences: ReadonlyMap<number, Silence> = new Map();
  #look: Promise<void> | undefined;
  #lookedMs = Number.NEGATIVE_INFINITY;
  /** How often the registry has answered. */
  #looks = 0;
  readonly #after: NonNullable<SharedJobsOptions['after']>;
  #cancelLook = () => {};
  #isClosed = false;
  #failure: string | undefined;

  constructor(options: SharedJobsOptions) {
    this.#options = options;
    this.#after = options.after ?? systemTimer;
    const { shares } = options;
    this.questions = new Questions({
      shares,
      pause: (ms) => this.#pause(ms),
      isAlone: () => this.isAlone,
    });
  }

  /** Whether no other coordinator can take over jobs. */
  get isAlone(): boolean {
    const { epoch } = this.#options;
    return this.#view.members.every((member) => member.epoch === epoch || member.isReleased || member.isOver);
  }

  /**
   * Takes over orphaned jobs, and looks at the registry from then on. Resolves when every job's leader has been heard
   * of since the start. So a coordinator that was killed and is started again takes up its jobs before its nodes come
   * back.
   */
  async start(led: OwnJobs): Promise<void> {
    this.#led = led;
    const startMs = this.#options.nowMs();
    do await this.#lookNow();
    while (!this.#isClosed && this.#isInDoubt(this.#options.nowMs() - startMs) && (await this.#pause(freshMs)));
    this.#wait();
  }

  /** Whether a job's leader may be gone: it has been silent for more than `sinceMs`. */
  #isInDoubt(sinceMs: number): boolean {
    const { members, jobs } = this.#view;
    const silent = new Set(members.flatMap((member) => (member.silentMs > sinceMs ? [member.epoch] : [])));
    silent.delete(this.#options.epoch);
    return sinceMs < mostDoubtMs && jobs.some(({ leader }) => leader !== undefined && silent.has(leader));
  }

  /**
   * The job of another coordinator, or one that has ended. Rejects with Refusal ('unavailable') if the registry does
   * not answer, so that it is unknown whether the job exists.
   */
  async get(jobId: string): Promise<JobRecord | undefined> {
    const known = this.#known.get(jobId);
    if (known) {
      if (!known.hasEnded) await this.#refresh();
      return (this.#known.get(jobId) ?? known).record;
    }
    // An unknown job may have been submitted a moment ago.
    const looks = this.#looks;
    await this.#patiently(() => this.#lookAnew());
    const record = this.#known.get(jobId)?.record;
    if (record || this.#led?.has(jobId) || this.#looks > looks) return record;
    throw new Refusal(
      'unavailable',
      `It is unknown for now whether job '${shortened(jobId)}' exists: ask again in a moment`,
    );
  }

  /** All ended jobs, and the jobs of other coordinators. */
  async list(): Promise<JobRecord[]> {
    await this.#refresh();
    return [...this.#known.values()].map(({ record }) => record);
  }

  /** The jobs that are known to have ended. */
  ended(): JobRecord[] {
    return [...this.#known.values()].flatMap(({ record, hasEnded }) => (hasEnded ? [record] : []));
  }

  /** Adds a job of this coordinator that has ended in the registry. */
  add(record: JobRecord): void {
    this.#known.set(record.jobId, { record, hasEnded: true, writes: Number.POSITIVE_INFINITY, now: '' });
    this.#told.delete(record.jobId);
  }

  /** Forgets jobs that are gone from the registry. */
  forget(jobIds: readonly string[]): void {
    for (const jobId of jobIds) this.#known.delete(jobId);
  }

  /** What another coordinator says about its job; empty: nothing. */
  now(jobId: string): string {
    return this.#known.get(jobId)?.now ?? '';
  }

  /** Has the coordinator that leads the job cancel it, and resolves when the job has ended. */
  async cancel(jobId: string): Promise<void> {
    const { shares } = this.#options;
    if (this.#known.get(jobId)?.hasEnded) return;
    await shares.cancel(jobId);
    while (!this.#isClosed && (await this.get(jobId))?.finishedMs === 0) await this.#pause(freshMs);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.questions.close();
    this.#cancelLook();
    await this.#look;
  }

  #wait(): void {
    if (this.#isClosed) return;
    this.#cancelLook = this.#after(askEveryMs, () => void this.#lookNow().then(() => this.#wait()));
  }

  async #refresh(): Promise<void> {
    if (this.#options.nowMs() - this.#lookedMs >= freshMs) await this.#patiently(() => this.#lookNow());
  }

  async #patiently(look: () => Promise<void>): Promise<void> {
    if (!this.#isClosed) await Promise.race([look(), this.#pause(patienceMs)]);
  }

  /** Looks again, without joining a look that began before. */
  async #lookAnew(): Promise<void> {
    await this.#look;
    await this.#lookNow();
  }

  #pause(ms: number): Promise<true> {
    return new Promise((resolve) => this.#after(ms, () => resolve(true)));
  }

  /** Looks at the registry; several callers at once share one look. Never rejects. */
  #lookNow(): Promise<void> {
    this.#look ??= this.#lookOnce().finally(() => {
      this.#look = undefined;
    });
    return this.#look;
  }

  async #lookOnce(): Promise<void> {
    const { log, lost } = this.#options;
    try {
      await this.#lookAndTake();
      this.#failure = undefined;
    } catch (error) {
      if (error instanceof LostLedgerError) return lost(error);
      const { message } = error as Error;
      if (this.#failure === undefined) log.warn(`Jobs of other coordinators are not known: ${message}`);
      this.#failure = message;
    }
  }

  async #lookAndTake(): Promise<void> {
    const { shares, epoch, nowMs } = this.#options;
    const now = this.#news();
    const view = await shares.look(epoch, now);
    for (const [jobId, text] of now) this.#told.set(jobId, text);
    await this.#learn(view);
    this.#view = view;
    this.#looks++;
    const lookedMs = nowMs();
    const hasFailed = this.#failure !== undefined;
    this.#silences = hear(this.#silences, view.members, { sinceMs: lookedMs - this.#lookedMs, hasFailed });
    this.#lookedMs = lookedMs;
    // Not awaited, so that slow answers do not delay taking over jobs.
    void this.questions.reply(view.questions);
    await this.#take(view);
  }

  /** The texts about jobs led here that have changed. */
  #news(): Map<string, string> {
    const news = [...(this.#led?.now() ?? [])];
    return new Map(news.filter(([jobId, text]) => this.#told.get(jobId) !== text));
  }

  /** Reads the changed jobs among the ended jobs and the jobs of other coordinators. */
  async #learn(view: SharedView): Promise<void> {
    const { registry, epoch } = this.#options;
    const { jobs } = view;
    const others = new Map(jobs.filter(({ leader }) => leader !== epoch).map((job) => [job.jobId, job]));
    // While a job is being taken over, its last record still holds.
    const coming = new Set(ownJobs(view, epoch).flatMap(({ jobId }) => (this.#led?.has(jobId) ? [] : [jobId])));
    for (const [jobId, known] of this.#known) {
      const job = others.get(jobId);
      if (job) known.now = job.now;
      else if (coming.has(jobId)) continue;
      else if (known.writes !== Number.POSITIVE_INFINITY || !jobs.some((other) => other.jobId === jobId)) {
        this.#known.delete(jobId);
      }
    }
    const changed = [...others.values()].filter(({ jobId, writes }) => {
      const known = this.#known.get(jobId);
      return !known || (!known.hasEnded && known.writes !== writes);
    });
    if (changed.length === 0) return;
    for await (const { jobId, spec, status, leader } of registry.jobs(changed.map(({ jobId }) => jobId))) {
      const before = this.#known.get(jobId);
      if (before?.hasEnded) continue;
      const { writes, now } = others.get(jobId)!;
      // A specification never changes.
      const record = readRecord(status, before?.record.spec ?? JSON.parse(spec));
      this.#known.set(jobId, { record, hasEnded: leader === undefined, writes, now });
    }
  }

  async #take(view: SharedView): Promise<void> {
    const { shares, epoch, log } = this.#options;
    const led = this.#led;
    if (!led || this.#isClosed) return;
    const own = ownJobs(view, epoch).filter(({ jobId }) => !led.has(jobId) && !this.#known.get(jobId)?.hasEnded);
    const orphans = chooseAdoptions(view, epoch, this.#silences);
    const adopted: Adopted[] = orphans.length > 0 ? await shares.adopt(epoch, orphans) : [];
    for (const { jobId } of adopted) log.warn({ jobId }, 'A job that nobody led is led here now');
    for (const job of [...own, ...adopted]) {
      await led.takeUp(job);
      this.#known.delete(job.jobId);
    }
    for (const { jobId, isCancelled } of ownJobs(view, epoch)) if (isCancelled) led.cancel(jobId);
  }
}

function systemTimer(ms: number, task: () => void): () => void {
  const timer = setTimeout(task, ms);
  return () => clearTimeout(timer);
}
