import type { JobShares, Question } from '@halogrid/ledger';
import { askEveryMs } from './lease-keeping.ts';

/** What this coordinator knows of a job that it leads or led, as text; undefined where it knows nothing. */
export type AnswerQuestion = (jobId: string, what: string) => Promise<string | undefined>;

/** Between two looks for an answer. */
const pollMs = 100;
/** Every coordinator looks at questions once a second, and one that is busy is late. */
const leaderWithinMs = 5 * askEveryMs;
/** A job that has ended is asked for shorter: mostly nobody knows more of it than its registry. */
const anybodyWithinMs = 2 * askEveryMs;

export interface QuestionsOptions {
  shares: Pick<JobShares, 'ask' | 'answer' | 'takeAnswer'>;
  pause: (ms: number) => Promise<unknown>;
  /** Whether no other coordinator is there. */
  isAlone: () => boolean;
}

/**
 * What coordinators of one registry ask each other: what a job did over its time is in the memory of the one that leads
 * or led it. They write it into the registry, so that none has to know where another listens, or by what key.
 */
export class Questions {
  readonly #options: QuestionsOptions;
  /** Those that wait for an answer: who asks the same meanwhile waits with them. */
  readonly #asked = new Map<string, Promise<string | undefined>>();
  /** Ids of those that are being answered here. */
  readonly #inHand = new Set<number>();
  #answer: AnswerQuestion = async () => undefined;
  #isClosed = false;

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /** From now on questions of others are answered by this. */
  answerBy(answer: AnswerQuestion): void {
    this.#answer = answer;
  }

  /**
   * What another coordinator knows of the job; undefined where none says so in time, or the registry cannot be asked.
   */
  async ask(jobId: string, what: string, hasEnded: boolean): Promise<string | undefined> {
    const key = `${jobId} ${what}`;
    const asked = this.#asked.get(key);
    if (asked || this.#options.isAlone()) return asked;
    const answer = this.#askWithin(hasEnded ? anybodyWithinMs : leaderWithinMs, jobId, what)
      .catch(() => undefined)
      .finally(() => this.#asked.delete(key));
    this.#asked.set(key, answer);
    return answer;
  }

  /** Answers what is known here. Never rejects: who asked asks again. */
  async reply(questions: readonly Question[]): Promise<void> {
    await Promise.all(questions.map((question) => this.#replyTo(question).catch(() => {})));
  }

  close(): void {
    this.#isClosed = true;
  }

  /** A registry that stands still answers nothing for much longer. */
  async #askWithin(ms: number, jobId: string, what: string): Promise<string | undefined> {
    const { shares, pause } = this.#options;
    let isLate = false;
    const late = pause(ms).then(() => {
      isLate = true;
      return undefined;
    });
    const poll = async (): Promise<string | undefined> => {
      const id = await shares.ask(jobId, what);
      while (!this.#isClosed && !isLate) {
        await pause(pollMs);
        const answer = await shares.takeAnswer(id);
        if (answer !== undefined) return answer;
      }
      return undefined;
    };
    return Promise.race([poll(), late]);
  }

  async #replyTo({ id, jobId, what }: Question): Promise<void> {
    if (this.#inHand.has(id)) return;
    this.#inHand.add(id);
    try {
      const answer = await this.#answer(jobId, what);
      if (answer !== undefined) await this.#options.shares.answer(id, answer);
    } finally {
      this.#inHand.delete(id);
    }
  }
}
