import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createJobId } from '@halogrid/jobs/job-id';
import { outputPath } from '@halogrid/jobs/output-paths';
import { planDigest } from '@halogrid/jobs/plan-digest';
import { isRecorded, type PlannedStep } from '@halogrid/jobs/shard';
import type { LogLedger } from '@halogrid/ledger';
import type { JobSpec } from '@halogrid/proto';
import { isBucketUri } from '@halogrid/sources';
import { createFolderLedger, type LedgerContext } from '../dispatch/open-ledger.ts';
import { giveBucketBack } from '../output/bucket/bucket-output.ts';
import { finishLogged } from '../output/finish-logged.ts';
import { plannedJobJson } from '../output/job-json.ts';
import { claimOutputFolder, releaseOutputFolder } from '../output/output-folder.ts';
import { removeOutput } from '../output/scratch-folder.ts';

/** Writes a plan to a folder or bucket, for shares of it to read. */
export class PlanRecorder {
  readonly #context: Omit<LedgerContext, 'lost'>;
  #begun: { jobId: string; spec: JobSpec; ledger: LogLedger } | undefined;

  constructor(context: Omit<LedgerContext, 'lost'>) {
    this.#context = context;
  }

  /**
   * Yields the same steps once they are written to `spec.out`. Rejects with UsageError if that folder holds anything
   * but a plan of this job.
   */
  async *record(spec: JobSpec, steps: AsyncIterable<PlannedStep[]>): AsyncGenerator<PlannedStep[], void, undefined> {
    const { clock, log } = this.#context;
    const jobId = createJobId(clock.wallMs(), Math.random());
    await claimOutputFolder(spec.out, { jobId, spec });
    const ledger = createFolderLedger({ clock, log, lost: (error) => log.error(error.message) });
    this.#begun = { jobId, spec, ledger };
    await ledger.createJob({ jobId, spec, submittedMs: clock.wallMs() });
    const notes: string[] = [];
    for await (const some of steps) {
      for (const step of some) if (step.kind === 'note') notes.push(step.text);
      ledger.setNotes(jobId, notes);
      await ledger.addPlan(jobId, some.filter(isRecorded), false);
      yield some;
    }
    await ledger.addPlan(jobId, [], true);
  }

  /** To be called when all steps were yielded: only now there is a plan. */
  async finish(): Promise<void> {
    const { jobId, spec, ledger } = this.#begun!;
    const digest = await planDigest(ledger.recordedPlan(jobId));
    const text = plannedJobJson((await ledger.getJob(jobId))!, digest, this.#context.clock.wallMs());
    await ledger.close();
    await finishLogged({ jobId, out: spec.out }, text);
    await this.#leave();
  }

  /** To be called instead of `finish` if the plan is not wanted: removes what was written of it. */
  async abandon(): Promise<void> {
    if (!this.#begun) return;
    const { jobId, spec } = this.#begun;
    const { out } = spec;
    await this.#leave();
    if (isBucketUri(out)) return giveBucketBack(out, jobId);
    await removeOutput(out);
    await rm(join(outputPath(out), 'job.json'), { force: true });
  }

  async #leave(): Promise<void> {
    const { spec, ledger } = this.#begun!;
    await ledger.close();
    releaseOutputFolder(spec.out);
    this.#begun = undefined;
  }
}
