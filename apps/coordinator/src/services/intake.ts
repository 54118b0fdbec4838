import { Refusal } from '@halogrid/jobs/refusal';

/** Whether the coordinator takes new jobs. */
export class Intake {
  #isClosed = false;

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** From now on no job is taken. */
  close(): void {
    this.#isClosed = true;
  }

  /** Throws Refusal if no job is taken. */
  check(): void {
    if (!this.#isClosed) return;
    throw new Refusal(
      'unavailable',
      'This coordinator takes no new jobs, because it is about to end: submit the job to another one, or when it is back',
    );
  }
}
