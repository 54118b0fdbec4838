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

/** What this coordinator leads. */
export interface OwnJobs {
  /** Whether it is at this job, or was until that ended. */
  has(jobId: string): boolean;
  /** Goes on with a job that is its own now. Rejects where it cannot be read; it is tried again then. */
  takeUp(job: Adopted): Promise<void>;
  cancel(jobId: string): void;
  /** What it says of its jobs for those who ask other coordinators. */
  now(): ReadonlyMap<string, string>;
}

export interface SharedJobsOptions {
  registry: Registry;
  shares: JobShares;
  epoch: number;
  log: Log;
  /** A clock that never goes back. */
  nowMs: () => number;
  /** Told where the ledger is lost: this process can only end. */
  lost: (error: LostLedgerError) => void;
  /** Calls `task` after so long, unless what it returns is called before; by timers of the system unless given. */
  after?: (ms: number, task: () => void) => () => void;
}

/** Who asks for a job of another coordinator hears what was so at most this long ago. */
const freshMs = 250;
/** … unless the registry does not answer in this time: then what was known last. */
const patienceMs = 1_000;

/** Longer than any lease and the wait that follows it. */
const mostDoubtMs = 2 * leaseMs + graceMs;

interface Known {
  record: JobRecord;
  hasEnded: boolean;
  writes: number;
  now: string;
}

/**
 * The jobs of a registry that several coordinators lead: looks at it once a second, takes over jobs that nobody leads,
 * ends those that somebody asked another coordinator to cancel, and knows the jobs of the others.
 */
export class SharedJobs {
  /** What coordinators ask each other of their jobs. */
  readonly questions: Questions;
  readonly #options: SharedJobsOptions;
  /** All jobs that have ended, and those of others. */
  readonly #known = new Map<string, Known>();
  /** What was told of this coordinator's jobs. */
  readonly #told = new Map<string, string>();
  #led: OwnJobs | undefined;
  #view: SharedView = { members: [], jobs: [], questions: [] };
  /** For how long members were not heard of. */
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
    const { shares, epoch } = options;
    this.questions = new Questions({
      shares,
      pause: (ms) => this.#pause(ms),
      isAlone: () => this.#view.members.every((member) => member.epoch === epoch || member.isReleased || member.isOver),
    });
  }

  /**
   * Takes over what nobody leads, and looks from then on. Resolves when each job is led by somebody who was heard of
   * since: jobs of a coordinator that was killed and is started again are taken up before its nodes come back.
   */
  async start(led: OwnJobs): Promise<void> {
    this.#led = led;
    const startMs = this.#options.nowMs();
    do await this.#lookNow();
    while (!this.#isClosed && this.#isInDoubt(this.#options.nowMs() - startMs) && (await this.#pause(freshMs)));
    this.#wait();
  }

  /** Whether a job is led by somebody who may be gone: who was not heard of for `sinceMs`. */
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
    // One that is not known may have been submitted a moment ago.
    const looks = this.#looks;
    await this.#patiently(() => this.#lookAnew());
    const record = this.#known.get(jobId)?.record;
    if (record || this.#led?.has(jobId) || this.#looks > looks) return record;
    throw new Refusal(
      'unavailable',
      `It is unknown for now whether job '${shortened(jobId)}' exists: ask again in a moment`,
    );
  }

  /** All of them. */
  async list(): Promise<JobRecord[]> {
    await this.#refresh();
    return [...this.#known.values()].map(({ record }) => record);
  }

  /** Those that are known to have ended. */
  ended(): JobRecord[] {
    return [...this.#known.values()].flatMap(({ record, hasEnded }) => (hasEnded ? [record] : []));
  }

  /** A job of this coordinator has ended, and its registry knows. */
  add(record: JobRecord): void {
    this.#known.set(record.jobId, { record, hasEnded: true, writes: Number.POSITIVE_INFINITY, now: '' });
    this.#told.delete(record.jobId);
  }

  /** The jobs are gone from the registry. */
  forget(jobIds: readonly string[]): void {
    for (const jobId of jobIds) this.#known.delete(jobId);
  }

  /** What another coordinator says of its job; empty: nothing. */
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

  /** Looks, and not with those who began before. */
  async #lookAnew(): Promise<void> {
    await this.#look;
    await this.#lookNow();
  }

  #pause(ms: number): Promise<true> {
    return new Promise((resolve) => this.#after(ms, () => resolve(true)));
  }

  /** Never rejects. Several who ask at once have one look. */
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
    // What it takes keeps nobody from taking over jobs.
    void this.questions.reply(view.questions);
    await this.#take(view);
  }

  /** What changed of what there is to say of jobs that are led here. */
  #news(): Map<string, string> {
    const news = [...(this.#led?.now() ?? [])];
    return new Map(news.filter(([jobId, text]) => this.#told.get(jobId) !== text));
  }

  /** Reads what changed of the jobs of others, and of those that have ended. */
  async #learn(view: SharedView): Promise<void> {
    const { registry, epoch } = this.#options;
    const { jobs } = view;
    const others = new Map(jobs.filter(({ leader }) => leader !== epoch).map((job) => [job.jobId, job]));
    // While a job is being taken over, what was last read of it still holds.
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
