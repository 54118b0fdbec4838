import type { KeptShard } from '@halogrid/jobs/shard';
import { InvalidResultError, type Ledger } from '@halogrid/ledger';
import type { Clock } from '@halogrid/service/clock';
import type { Command } from '../scheduler/commands.ts';
import type { SchedulerEvent } from '../scheduler/events.ts';
import type { ComparableAnswer } from './answer-digest.ts';
import type { RunningJobs } from './running-jobs.ts';
import type { WorkRecorder } from './work-recorder.ts';

type CommitCommand = Extract<Command<ComparableAnswer>, { kind: 'CommitShard' }>;

export interface ResultWriterOptions {
  ledger: Ledger;
  clock: Clock;
  jobs: RunningJobs;
  recorder: WorkRecorder;
  /** Tells the scheduler. */
  tell(event: SchedulerEvent<ComparableAnswer>): void;
}

/**
 * Writes the outcome of shards to the ledger, and tells the scheduler when it is durable. If the ledger refuses, the
 * job fails.
 */
export class ResultWriter {
  readonly #options: ResultWriterOptions;

  constructor(options: ResultWriterOptions) {
    this.#options = options;
  }

  /** If the answer counts, calls `onMerged` with its pixels. */
  async commit(command: CommitCommand, onMerged: (pixels: number) => void): Promise<void> {
    const { ledger, clock, jobs, recorder, tell } = this.#options;
    const { lease, answer } = command;
    const startMs = clock.monotonicMs();
    try {
      const { content, node } = answer;
      const run = jobs.get(lease.jobId);
      const busySeconds = { ...content.busySeconds, ...run?.takeHostSeconds(), ...run?.takeQueuedSeconds() };
      const outcome = await ledger.commit({ ...lease, ...content, busySeconds, node });
      const pixels = recorder.committed(command, outcome, startMs);
      // The ledger has a newer epoch: another coordinator leads.
      if (outcome === 'stale') throw takenOver();
      if (outcome === 'committed') onMerged(pixels);
      this.#written(lease.jobId, lease.shard);
    } catch (error) {
      if (error instanceof InvalidResultError) tell({ kind: 'CommitRejected', lease, error: error.message });
      else jobs.fail(lease.jobId, error);
    }
  }

  /** The shard is given up. */
  quarantine(jobId: string, shard: number, error: string, attempts: number): Promise<void> {
    return this.#settle(jobId, shard, (ledger) => ledger.quarantineShard(jobId, shard, error, attempts));
  }

  /** The shard is a tile of an image that is set aside already. */
  skip(jobId: string, shard: number): Promise<void> {
    return this.#settle(jobId, shard, (ledger) => ledger.skipShard(jobId, shard));
  }

  /** Has the kept results of a shard read from the earlier output. */
  async keep(jobId: string, { shard, ...more }: KeptShard): Promise<void> {
    const { ledger, jobs } = this.#options;
    try {
      const found = await jobs.get(jobId)?.keep({ shard, ...more });
      if (!found) return;
      const answer = { results: [], errors: [], stageSeconds: {}, inputBytes: 0 };
      const outcome = await ledger.commit({ jobId, shard, attempt: 0, epoch: ledger.epochOf(jobId), ...answer, found });
      if (outcome === 'stale') throw takenOver();
      this.#written(jobId, shard);
    } catch (caught) {
      jobs.fail(jobId, caught);
    }
  }

  /** Records the outcome of a shard without an answer of a node. */
  async #settle(jobId: string, shard: number, write: (ledger: Ledger) => Promise<void>): Promise<void> {
    try {
      await write(this.#options.ledger);
      this.#written(jobId, shard);
    } catch (caught) {
      this.#options.jobs.fail(jobId, caught);
    }
  }

  #written(jobId: string, shard: number): void {
    const { jobs, tell } = this.#options;
    jobs.get(jobId)?.resultsCame();
    tell({ kind: 'CommitFinished', jobId, shard });
    jobs.tellChanged(jobId);
  }
}

const takenOver = (): Error => new Error('The ledger has been taken over by another coordinator');
