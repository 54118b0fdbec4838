import { Refusal } from '@halogrid/jobs/refusal';
import type { Questions } from '@halogrid/leadership';
import type { JobRecord, Ledger } from '@halogrid/ledger';
import type { JobHistoryView, JobPause, MergedSoFar, QuarantinedInputs } from '@halogrid/proto';
import type { JobTimeline } from '../dispatch/history/job-histories.ts';
import type { JobDriver } from '../dispatch/job-driver.ts';
import type { WorkView } from '../dispatch/work-view.ts';
import type { LiveCells } from '../output/live-cells.ts';
import { type AskedHistogram, mergedSoFar } from './merged-so-far.ts';
import { quarantinedInputs } from './quarantined-inputs.ts';

/** What only the leader of a job has, in its memory; or, for `pause`, can do. */
interface InMemory {
  pause: true;
  history: JobHistoryView;
  timeline: JobTimeline;
  merged: MergedSoFar;
  quarantined: QuarantinedInputs;
}
type What = keyof InMemory;

/** Details of a question. */
type Asked = AskedHistogram & { paused?: JobPause | undefined };

/** An answer in the registry: what is known, or why it is refused. */
type Answer = { known: object | true } | { refusal: Refusal['kind']; sentence: string };

export interface JobAnswersOptions {
  view: Pick<WorkView, 'history' | 'keptHistory' | 'timeline'>;
  jobs: Pick<JobDriver, 'pause'>;
  ledger: Ledger;
  cells: Pick<LiveCells, 'sum'>;
  /** Undefined if this coordinator leads alone. */
  questions: Questions | undefined;
}

/**
 * What is known about jobs besides their status, here or by the coordinator that leads the job. Pauses them there, too.
 */
export class JobAnswers {
  readonly #options: JobAnswersOptions;

  constructor(options: JobAnswersOptions) {
    this.#options = options;
    options.questions?.answerBy((jobId, question) => this.#answer(jobId, question));
  }

  /** What the job did over its time; undefined if no leader has kept it. */
  async history(record: JobRecord): Promise<JobHistoryView | undefined> {
    const { view } = this.#options;
    const { jobId, finishedMs } = record;
    // The leader has more of a running job than it has kept.
    if (finishedMs === 0) return (await this.#know(record, 'history')) ?? view.keptHistory(jobId);
    // If another coordinator led the job after this one, it has kept more than this one has in memory.
    const known = [await view.keptHistory(jobId), view.history(jobId)].filter((one) => one !== undefined);
    return known.sort((a, b) => b.sinceMs + b.elapsedMs - (a.sinceMs + a.elapsedMs))[0];
  }

  /**
   * When each of its shards was on which node; undefined if no running coordinator saw it, or it ended too long ago.
   */
  timeline(record: JobRecord): Promise<JobTimeline | undefined> {
    return this.#know(record, 'timeline');
  }

  /** The histogram merged so far. Rejects with Refusal if the job has ended. */
  async merged(record: JobRecord, asked: AskedHistogram): Promise<MergedSoFar> {
    const { jobId, state } = record;
    if (record.finishedMs > 0) {
      const where = state === 'complete' ? 'its counts are in histogram.json of its results' : 'it has no results';
      throw new Refusal('unmet', `Job ${jobId} is ${state}: ${where}`);
    }
    return (await this.mergedSoFar(record, asked)) ?? silence(jobId);
  }

  /**
   * As `merged`, but undefined if the job has ended, or its leader does not answer. Rejects with Refusal if the job has
   * no such pipeline or cell.
   */
  async mergedSoFar(record: JobRecord, asked: AskedHistogram): Promise<MergedSoFar | undefined> {
    return record.finishedMs > 0 ? undefined : this.#know(record, 'merged', asked);
  }

  /** Inputs that are set aside, by reason. */
  async quarantined(record: JobRecord): Promise<QuarantinedInputs> {
    if (record.finishedMs > 0 || record.counts.quarantined === 0)
      return quarantinedInputs(record, this.#options.ledger);
    return (await this.#know(record, 'quarantined')) ?? silence(record.jobId);
  }

  /**
   * Has the job's leader pause it, or go on with it if `paused` is undefined. Rejects with Refusal if the leader does
   * not answer.
   */
  async setPaused(record: JobRecord, paused: JobPause | undefined): Promise<void> {
    if (!(await this.#know(record, 'pause', { paused }))) silence(record.jobId);
  }

  /** What is known here or, if several coordinators lead, by another one. */
  async #know<Of extends What>(record: JobRecord, what: Of, asked: Asked = {}): Promise<InMemory[Of] | undefined> {
    const own = await this.#own(record, what, asked);
    if (own) return own;
    const text = await this.#options.questions?.ask(
      record.jobId,
      JSON.stringify({ what, ...asked }),
      record.finishedMs > 0,
    );
    if (text === undefined) return undefined;
    const answer = JSON.parse(text) as Answer;
    if ('refusal' in answer) throw new Refusal(answer.refusal, answer.sentence);
    return answer.known as InMemory[Of];
  }

  async #own<Of extends What>(record: JobRecord, what: Of, asked: Asked): Promise<InMemory[Of] | undefined> {
    const { view, jobs, ledger, cells } = this.#options;
    const { jobId } = record;
    const answers: { [Name in What]: () => InMemory[Name] | undefined | Promise<InMemory[Name] | undefined> } = {
      pause: () => jobs.pause(jobId, asked.paused),
      history: () => view.history(jobId),
      timeline: () => view.timeline(jobId),
      merged: () => mergedSoFar(record, asked, ledger, cells),
      quarantined: () => (ledger.quarantinedSoFar(jobId) ? quarantinedInputs(record, ledger) : undefined),
    };
    return answers[what]();
  }

  /** The answer to a question of another coordinator; undefined if nothing is known here. */
  async #answer(jobId: string, question: string): Promise<string | undefined> {
    const { what, ...asked } = JSON.parse(question) as { what: What } & Asked;
    // Every job that runs here has a history, and so have the last ones that did.
    if (!this.#options.view.history(jobId)) return undefined;
    const record = await this.#options.ledger.getJob(jobId);
    if (!record) return undefined;
    try {
      const known = await this.#own(record, what, asked);
      return known && JSON.stringify({ known } satisfies Answer);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return JSON.stringify({ refusal: error.kind, sentence: error.message } satisfies Answer);
    }
  }
}

function silence(jobId: string): never {
  throw new Refusal('unmet', `Job ${jobId} is led by another coordinator, which does not answer: ask again`);
}
