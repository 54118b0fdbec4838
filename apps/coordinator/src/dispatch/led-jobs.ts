import type { LogHome, LogLedger } from '@halogrid/ledger';
import { type Recovery, recoverJob } from './recover-jobs.ts';
import type { WorkView } from './work-view.ts';

/** How long attached nodes have to bring along their leases of an adopted job: they are asked at once. */
const bringWithinMs = 2_000;

/** The jobs of this coordinator, for the division of a registry's jobs among coordinators. */
export class LedJobs {
  readonly #recovery: Recovery & { ledger: LogLedger };
  readonly #home: LogHome;
  readonly #view: Pick<WorkView, 'nodes' | 'jobsNow'>;

  constructor(recovery: Recovery & { ledger: LogLedger }, home: LogHome, view: Pick<WorkView, 'nodes' | 'jobsNow'>) {
    this.#recovery = recovery;
    this.#home = home;
    this.#view = view;
  }

  has(jobId: string): boolean {
    return this.#recovery.ledger.has(jobId);
  }

  /** Goes on with a job that another coordinator led. Rejects if the ledger cannot be read. */
  async takeUp({ jobId, epoch }: { jobId: string; epoch: number }): Promise<void> {
    const record = await this.#recovery.ledger.adopt(this.#home, jobId, epoch);
    const isAttached = this.#view.nodes().length > 0;
    if (record) await recoverJob(this.#recovery, record, isAttached ? bringWithinMs : undefined);
  }

  cancel(jobId: string): void {
    void this.#recovery.jobs.cancel(jobId);
  }

  now(): Map<string, string> {
    return this.#view.jobsNow();
  }
}
