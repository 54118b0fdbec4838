import type { JobShares, Question } from '@halogrid/ledger';
import { askEveryMs } from './lease-keeping.ts';

/** Answers a question about a job that this coordinator leads or led, as text; undefined if it does not know. */
export type AnswerQuestion = (jobId: string, what: string) => Promise<string | undefined>;

/** Milliseconds between two looks for an answer. */
const pollMs = 100;
/**
 * How long to wait for the leader's answer. Every coordinator looks at questions once a second; a busy one may be late.
 */
const leaderWithinMs = 5 * askEveryMs;
/**
 * How long to wait for an answer about an ended job. It is shorter, because mostly no coordinator knows more than the
 * registry.
 */
const anybodyWithinMs = 2 * askEveryMs;

export interface QuestionsOptions {
  shares: Pick<JobShares, 'ask' | 'answer' | 'takeAnswer'>;
  pause: (ms: number) => Promise<unknown>;
  /** Whether there is no other coordinator. */
  isAlone: () => boolean;
}

/**
 * Questions between coordinators of one registry, because a job's history is only in the memory of the coordinator that
 * leads or led it. They go through the registry, so that no coordinator needs the address or the keys of another.
 */
export class Questions {
  readonly #options: QuestionsOptions;
  /** Questions that wait for an answer. A caller with the same question waits for the same answer. */
  readonly #asked = new Map<string, Promise<string | undefined>>();
  /** Ids of questions that are being answered here. */
  readonly #inHand = new Set<number>();
  #answer: AnswerQuestion = async () => undefined;
  #isClosed = false;

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  /** Sets the function that answers questions of other coordinators from now on. */
  answerBy(answer: AnswerQuestion): void {
    this.#answer = answer;
  }

  /** Asks the other coordinators about a job; undefined if none answers in time, or the registry cannot be reached. */
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

  /** Answers the questions to which the answer is known here. Never rejects: an unanswered question is seen again. */
  async reply(questions: readonly Question[]): Promise<void> {
    await Promise.all(questions.map((question) => this.#replyTo(question).catch(() => {})));
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Limits the time, because a registry that hangs may not answer for much longer. */
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
