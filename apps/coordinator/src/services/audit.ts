import { Refusal } from '@halogrid/jobs/refusal';
import type { Caller, Log } from '@halogrid/service';

/** Who asks for a change, and from where. */
export interface AskingCaller extends Caller {
  /** Address and port. */
  from: string;
}

/** What is asked for: an action, and the id of a job as it was given. */
export interface AskedChange {
  action: string;
  jobId?: string;
}

/**
 * Writes a line to the log for each change that somebody asks for: who, what, from where, and what became of it. All of
 * these lines have the field `audit`, by which they are found.
 */
export class Audit {
  readonly #log: Pick<Log, 'info'>;

  constructor(log: Pick<Log, 'info'>) {
    this.#log = log;
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

  /** Writes the line of a change that the caller may not ask for. */
  refused(action: string, { from }: { from: string }, { name, details }: { name: string; details: string }): void {
    this.#write(action.toLowerCase(), { who: name, from, result: 'refused', why: details });
  }

  #write(action: string, facts: { who: string; result: string; jobId?: string | undefined; [name: string]: unknown }) {
    const { who, jobId, result } = facts;
    const what = jobId === undefined ? action : `${action} job ${jobId}`;
    this.#log.info({ audit: action, ...facts }, `${who || 'Somebody'} asked to ${what}: ${result}`);
  }
}
