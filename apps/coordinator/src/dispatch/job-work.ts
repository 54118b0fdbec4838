import type { AcceptedJob } from '@halogrid/jobs/accepted-job';
import { whyFailed } from '@halogrid/jobs/refusal';
import type { PlannedStep } from '@halogrid/jobs/shard';
import { WantError } from '@halogrid/jobs/want-error';
import type { Pipeline } from '@halogrid/kernels';
import { type AnsweredShards, FencedError, isLedgerLost, type JobRecord, type JobResults } from '@halogrid/ledger';
import type { JobSpec } from '@halogrid/proto';
import type { FinaliseBegun, FinishedOutput } from '../output/finalise.ts';
import type { PicturesAhead } from '../output/pictures-ahead.ts';
import type { KeptReader } from '../output/previous/kept-reader.ts';
import type { TablesEvents, TablesOutput } from '../output/tables-output.ts';

/** The work of a job outside the coordinator's memory. */
export interface JobWork {
  /** Yields steps of the plan, some at a time. Throws the signal's reason soon after it aborts; so does `finalise`. */
  plan(spec: JobSpec, pipeline: Pipeline, signal: AbortSignal): AsyncIterable<readonly PlannedStep[]>;
  /** Reads results that its plan keeps from an earlier output; absent: plans keep nothing. */
  earlier?(job: AcceptedJob): Pick<KeptReader, 'keep' | 'end'>;
  /** The part of the output that is written while results come. */
  tables(job: AcceptedJob, events: TablesEvents): TablesOutput;
  /** Makes previews of these sources while results come in; absent: `finalise` makes all of them. */
  pictures?(
    job: AcceptedJob,
    chosen: readonly number[],
    settled: TablesEvents['settled'],
  ): Pick<PicturesAhead, 'advance' | 'end'> | undefined;
  /**
   * Writes the output, each file through `until`. `previewed` are the sources that get a preview, if all were listed in
   * this process. `now` gives milliseconds since 1970. Rejects with LostPartError if a part is lost.
   */
  finalise(
    results: JobResults,
    pipeline: Pipeline,
    begun: Required<Pick<FinaliseBegun, 'epoch' | 'confirm' | 'until'>> & {
      tables: TablesOutput;
      previewed?: readonly number[];
    },
    now: () => number,
    signal: AbortSignal,
  ): Promise<FinishedOutput>;
  /** Done shards whose parts are missing; absent: this is not checked. */
  lostShards?(
    job: Pick<AcceptedJob, 'jobId' | 'spec'>,
    answered: (from: number, atMost: number) => Promise<AnsweredShards>,
  ): Promise<readonly number[]>;
  /**
   * Ends the output of a job without results. Resolves with true if its finished shards are kept, so that it can go on.
   */
  abandon(job: JobRecord, end: JobEnd, finishedMs: number): Promise<boolean>;
  /** Releases the output folder, if the job has it. */
  release(out: string, jobId: string): void;
}

/** `isWant`: something outside the job is missing, as in WantError. */
export type JobEnd = { state: 'cancelled' } | { state: 'failed'; error: string; isWant?: boolean };

/**
 * How a job ends because of an error. If another coordinator leads, or the ledger is lost, the job does not end here:
 * the coordinator that leads, or has the ledger back, goes on with it.
 */
export function endBecause(error: unknown): JobEnd | 'closing' {
  if (error instanceof FencedError || isLedgerLost(error)) return 'closing';
  return { state: 'failed', error: whyFailed(error), isWant: error instanceof WantError };
}
