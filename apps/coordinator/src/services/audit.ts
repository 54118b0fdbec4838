import { Refusal } from '@halogrid/jobs/refusal';
import type { Caller, Denial, Log } from '@halogrid/service';

/** Who asks for a change, and from where. */
export interface AskingCaller extends Caller {
  /** Address and port. */
  from: string;
}

/** What is asked for: an action, and the id of a job as it was given. */
export interface AskedChange {
  action: string;
  jobId?: string | undefined;
}

/** The caller of a refused change, by name if it is known, and why. */
export type RefusedCaller = Pick<Denial, 'name' | 'sentence'>;

/** Somebody who guesses tokens must not fill the disk of the log. */
const strangersPerSecond = 10;

/**
 * Writes a line to the log for each change that somebody asks for: who, what, from where, and what became of it. All of
 * these lines have the field `audit`, by which they are found.
 */
export class Audit {
  readonly #log: Pick<Log, 'info'>;
  readonly #nowMs: () => number;
  #second = 0;
  /** Lines about strangers in this second. */
  #strangers = 0;
  /** Lines that were not written since the last one. */
  #omitted = 0;

  /** `nowMs` reads any clock. */
  constructor(log: Pick<Log, 'info'>, nowMs = Date.now) {
    this.#log = log;
    this.#nowMs = nowMs;
  }

  /** Makes the change, and writes its line. `jobOf` gives the id of the job that was made or changed. */
  async change<T>(
    { name, role, from }: AskingCaller,
    { action, jobId }: AskedChange,
    act: () => Promise<T>,
    jobOf: (made: T) => string | undefined = () => jobId,
  ): Promise<T> {
    const asked = { who: name, role, from };
    try {
      const made = await act();
      this.#write(action, { ...asked, jobId: jobOf(made), result: 'done' });
      return made;
    } catch (error) {
      const result = error instanceof Refusal ? 'refused' : 'failed';
      this.#write(action, { ...asked, jobId, result, why: error instanceof Error ? error.message : String(error) });
      throw error;
    }
  }

  /** Writes the line of a change that the caller may not ask for. Lines about strangers are bounded. */
  refused({ action, jobId }: AskedChange, { from }: { from: string }, { name, sentence }: RefusedCaller): void {
    if (name === '' && this.#isTooMuch()) return;
    const omitted = this.#omitted || undefined;
    this.#omitted = 0;
    this.#write(action, { who: name, from, jobId, result: 'refused', why: sentence, omitted });
  }

  /** Whether enough lines were written about strangers in this second. */
  #isTooMuch(): boolean {
    const second = Math.floor(this.#nowMs() / 1000);
    if (second !== this.#second) this.#strangers = 0;
    this.#second = second;
    if (++this.#strangers <= strangersPerSecond) return false;
    this.#omitted++;
    return true;
  }

  #write(action: string, facts: { who: string; result: string; jobId?: string | undefined; [name: string]: unknown }) {
    const { who, jobId, result } = facts;
    const what = jobId === undefined ? action : `${action} job ${jobId}`;
    this.#log.info({ audit: action, ...facts }, `${who || 'Somebody'} asked to ${what}: ${result}`);
  }
}
