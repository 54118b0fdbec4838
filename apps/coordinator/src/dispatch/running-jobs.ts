import type { JobRun } from './job-run.ts';
import { endBecause } from './job-work.ts';

/** The running jobs, and the callers that wait for a change of one of them. */
export class RunningJobs {
  readonly #runs = new Map<string, JobRun>();
  /** Callers that wait for a change of a job. */
  readonly #changes = new Map<string, PromiseWithResolvers<void>>();

  get size(): number {
    return this.#runs.size;
  }

  get(jobId: string): JobRun | undefined {
    return this.#runs.get(jobId);
  }

  ids(): string[] {
    return [...this.#runs.keys()];
  }

  /** Keeps the run until it has ended, and calls `onEnded` then. */
  add(run: JobRun, onEnded: () => void): void {
    const { jobId } = run.job;
    this.#runs.set(jobId, run);
    void run.ended.then(() => {
      this.#runs.delete(jobId);
      onEnded();
    });
  }

  /** Cancels the job if it has not ended, and resolves when it has. */
  async cancel(jobId: string): Promise<void> {
    const run = this.#runs.get(jobId);
    run?.stop({ state: 'cancelled' });
    await run?.ended;
  }

  /** Fails the job, because the ledger or the output folder refuses a write. */
  fail(jobId: string, caught: unknown): void {
    this.#runs.get(jobId)?.stop(endBecause(caught));
  }

  /** Resolves when the job has ended; at once for one that does not run. */
  async ended(jobId: string): Promise<void> {
    await this.#runs.get(jobId)?.ended;
  }

  /** Resolves when no job runs, however many begin meanwhile. */
  async idle(): Promise<void> {
    while (this.#runs.size > 0) await Promise.all([...this.#runs.values()].map((run) => run.ended));
  }

  /** Resolves when the ledger's facts about the job change; at once for a job that does not run. */
  changed(jobId: string): Promise<void> {
    // A promise for such a job would never be resolved or removed.
    if (!this.#runs.has(jobId)) return Promise.resolve();
    let change = this.#changes.get(jobId);
    if (!change) {
      change = Promise.withResolvers();
      this.#changes.set(jobId, change);
    }
    return change.promise;
  }

  /** The ledger's facts about the job have changed. */
  tellChanged(jobId: string): void {
    this.#changes.get(jobId)?.resolve();
    this.#changes.delete(jobId);
  }

  /** Leaves every job as it is in the ledger and in its folder. Resolves when no job is at work any more. */
  async close(): Promise<void> {
    const runs = [...this.#runs.values()];
    for (const run of runs) run.stop('closing');
    await Promise.all(runs.map((run) => run.ended));
  }
}
