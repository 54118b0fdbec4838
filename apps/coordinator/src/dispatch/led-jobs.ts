import type { DurableLedger, JobHome } from '../ledger/durable-ledger.ts';
import { type Recovery, recoverJob } from './recover-jobs.ts';

/** The jobs of this coordinator, as those who divide the jobs of a store deal with them. */
export class LedJobs {
  readonly #recovery: Recovery & { ledger: DurableLedger };
  readonly #home: JobHome;

  constructor(recovery: Recovery & { ledger: DurableLedger }, home: JobHome) {
    this.#recovery = recovery;
    this.#home = home;
  }

  has(jobId: string): boolean {
    return this.#recovery.ledger.has(jobId);
  }

  /** Goes on with a job that another coordinator led. Rejects where the ledger cannot be read. */
  async takeUp({ jobId, epoch }: { jobId: string; epoch: number }): Promise<void> {
    const record = await this.#recovery.ledger.adopt(this.#home, jobId, epoch);
    // Nodes that are here already do not attach anew, and bring nothing along.
    const isAttached = this.#recovery.dispatcher.nodes().length > 0;
    if (record) await recoverJob(this.#recovery, record, isAttached ? 0 : undefined);
  }

  cancel(jobId: string): void {
    void this.#recovery.dispatcher.cancel(jobId);
  }

  now(): Map<string, string> {
    return this.#recovery.dispatcher.jobsNow();
  }
}
