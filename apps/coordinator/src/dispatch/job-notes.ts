import type { PlannedStep } from '@halogrid/jobs/shard';
import type { Ledger } from '@halogrid/ledger';

/** The notes about a job's sources, each once: a plan that is read again gives all of them again. */
export class JobNotes {
  readonly #ledger: Pick<Ledger, 'setNotes'>;
  readonly #jobId: string;
  #notes: readonly string[] = [];

  constructor(ledger: Pick<Ledger, 'setNotes'>, jobId: string) {
    this.#ledger = ledger;
    this.#jobId = jobId;
  }

  /** Takes the notes that the ledger has. */
  load(notes: readonly string[]): void {
    this.#notes = notes;
  }

  /** Adds the notes among these steps, also to the ledger. */
  add(steps: readonly PlannedStep[]): void {
    const notes = steps.flatMap((step) => (step.kind === 'note' ? [step.text] : []));
    if (notes.length === 0) return;
    this.#notes = [...new Set([...this.#notes, ...notes])];
    this.#ledger.setNotes(this.#jobId, this.#notes);
  }
}
