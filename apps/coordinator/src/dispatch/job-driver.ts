import type { AcceptedJob } from '@halogrid/jobs/accepted-job';
import { lackOf } from '@halogrid/jobs/output-lack';
import type { PlannedStep } from '@halogrid/jobs/shard';
import type { LedgerState, OpenShards } from '@halogrid/ledger';
import type { JobPause } from '@halogrid/proto';
import type { JobOrder } from '../scheduler/events.ts';
import type { DispatcherOptions } from './dispatcher-options.ts';
import type { StoredHistory } from './history/stored-history.ts';
import { JobRun, type JobRunListener } from './job-run.ts';
import type { LostShard } from './lost-parts.ts';
import type { WorkParts } from './work-parts.ts';

/** Begins, resumes, pauses and cancels jobs. */
export class JobDriver {
  readonly #parts: WorkParts;
  readonly #options: DispatcherOptions;

  constructor(parts: WorkParts, options: DispatcherOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  /** Jobs that have not ended. */
  get openJobs(): number {
    return this.#parts.running.size;
  }

  /** Runs a job whose output folder is claimed. Rejects if the ledger does not take it. */
  async submit(job: AcceptedJob): Promise<void> {
    const { jobId, spec, owner } = job;
    const { ledger, clock, log, tell } = this.#parts;
    await ledger.createJob({ jobId, spec, submittedMs: clock.wallMs(), owner });
    log.info({ jobId, owner, sources: spec.sources.length, out: spec.out }, 'A job is accepted');
    tell({ kind: 'JobSubmitted', ...orderOf(job), epoch: ledger.epochOf(jobId) });
    this.#start(job);
  }

  /**
   * Goes on with a job that an earlier coordinator began; its output folder is claimed already. Nodes have `bringMs`
   * (default: `reportWithinMs`) to bring along their leases of it, and attached nodes are asked for theirs. Rejects
   * with one sentence if its logs are lost.
   *
   * If `takeUp` is given, the folder is not claimed yet: the job begins with this, again while its output cannot be
   * written, and ends here if it resolves with false.
   */
  async resume(job: AcceptedJob, bringMs?: number, takeUp?: () => Promise<boolean>): Promise<void> {
    const { ledger, keeper, running } = this.#parts;
    const earlier = await keeper.read(job.jobId);
    const goOn = async (): Promise<void> => this.#goOn(job, await ledger.resume(job.jobId), bringMs);
    if (takeUp) {
      const begin = async (): Promise<void> => {
        if (await takeUp()) return goOn();
        running.get(job.jobId)?.stop('closing');
        throw new Error('The job has ended');
      };
      return this.#start(job, { earlier, begin });
    }
    const open = await ledger.resume(job.jobId).catch((error) => {
      // The folder of its logs may be missing for a while.
      if (lackOf(error)) return undefined;
      throw error;
    });
    if (open) {
      this.#start(job, { earlier });
      await this.#goOn(job, open, bringMs);
    } else this.#start(job, { earlier, begin: goOn });
  }

  async #goOn(job: AcceptedJob, { open, planned, kept }: OpenShards, bringMs?: number): Promise<void> {
    const { jobId } = job;
    const { ledger, log, running, sessions, sights, tell } = this.#parts;
    const { counts, paused } = (await ledger.getJob(jobId))!;
    const isPaused = paused !== undefined;
    running.get(jobId)!.isPaused = isPaused;
    log.info({ jobId, shards: counts.shards, shardsDone: counts.shardsDone }, 'A job goes on');
    // The needs must be known first: the scheduler leases these shards at once.
    const withNeeds = open.map((entry) => ({ ...entry, shard: sights.recovered(jobId, entry.shard) }));
    const epoch = ledger.epochOf(jobId);
    for (const [, { connection }] of sessions.entries()) connection.bring(jobId, epoch);
    tell({ kind: 'JobResumed', ...orderOf(job), isPaused, epoch, planned, kept, open: withNeeds, bringMs });
  }

  /**
   * `begin` is called before anything else, as soon as the output can be written; `earlier` is what earlier leaders saw
   * of the job.
   */
  #start(
    job: AcceptedJob,
    { begin, earlier }: { begin?: () => Promise<void>; earlier?: StoredHistory | undefined } = {},
  ): void {
    const { jobId } = job;
    const { scheduler, running, recorder, keeper, sights, tell } = this.#parts;
    recorder.jobSubmitted(job, earlier);
    sights.jobStarted(job);
    const listener: JobRunListener = {
      planned: (steps) => this.#planned(jobId, steps),
      planEnded: () => tell({ kind: 'PlanEnded', jobId }),
      queued: () => scheduler.queued(jobId),
      isBesideOthers: () => scheduler.hasLeasesBeside(jobId),
      lost: (lost) => this.#lost(job, lost),
      abandoned: () => tell({ kind: 'JobAbandoned', jobId }),
      changed: (state) => {
        recorder.jobIs(jobId, state);
        running.tellChanged(jobId);
      },
    };
    const { graceMs: folder = Number.POSITIVE_INFINITY, spaceGraceMs: room = Number.POSITIVE_INFINITY } = this.#options;
    const run = new JobRun(job, { ...this.#options, outputGraces: { room, folder } }, listener, begin);
    running.add(run, () => {
      // It may have ended in the ledger before it could begin.
      running.tellChanged(jobId);
      sights.jobEnded(jobId);
      const history = recorder.jobEnded(jobId);
      if (history) void keeper.keep(new Map([[jobId, history]]));
    });
  }

  #lost(job: AcceptedJob, { withdrawn, inVain: names, isMet, isFalse, error }: LostShard): void {
    const { ledger, running, sessions, sights, tell } = this.#parts;
    const { open: reopened, node, planned, kept } = withdrawn;
    const hellos = sessions.hellos().filter(({ name }) => names.includes(name));
    const inVain = hellos.map(({ nodeId }) => nodeId);
    const nodeIds = hellos.flatMap(({ name, nodeId }) => (isMet && name === node ? [nodeId] : []));
    const open = { ...reopened, shard: sights.recovered(job.jobId, reopened.shard) };
    const epoch = ledger.epochOf(job.jobId);
    const order = { ...orderOf(job), epoch, isPaused: running.get(job.jobId)?.isPaused ?? false };
    tell({ kind: 'ShardLost', ...order, open, planned, kept, nodeIds, isFalse, inVain, error });
  }

  #planned(jobId: string, steps: PlannedStep[]): void {
    const { running, recorder, sights, tell } = this.#parts;
    const shards = steps.flatMap((step) => {
      if (step.kind !== 'shard') return [];
      return [step.shard.elsewhere ? step.shard : sights.planned(jobId, step.shard)];
    });
    recorder.planned(jobId, steps);
    if (shards.length > 0) tell({ kind: 'ShardsPlanned', jobId, shards });
    running.tellChanged(jobId);
  }

  /** Counts a job of an earlier coordinator that ended without going on. */
  endedBefore(jobId: string, state: LedgerState): void {
    this.#parts.recorder.jobIs(jobId, state);
  }

  /** Cancels the job if it has not ended, and resolves when it has. */
  async cancel(jobId: string): Promise<void> {
    const { running } = this.#parts;
    if (running.get(jobId)) await running.cancel(jobId);
    else if (!(await this.#options.cancelEnded?.(jobId))) await this.#options.others?.cancel(jobId);
  }

  /** Resolves when no job runs. */
  idle(): Promise<void> {
    return this.#parts.running.idle();
  }

  /**
   * Pauses the job, or goes on with it if `paused` is undefined: resolves with true once that is in the ledger, with
   * undefined if the job does not run here.
   */
  async pause(jobId: string, paused: JobPause | undefined): Promise<true | undefined> {
    const { ledger, running, tell } = this.#parts;
    const run = running.get(jobId);
    if (!run) return undefined;
    await ledger.setPaused(jobId, paused);
    run.isPaused = paused !== undefined;
    tell({ kind: 'JobPaused', jobId, isPaused: run.isPaused });
    running.tellChanged(jobId);
    return true;
  }

  /** Resolves when the job has ended; at once for one that does not run. */
  ended(jobId: string): Promise<void> {
    return this.#parts.running.ended(jobId);
  }

  /** Resolves when the ledger's facts about the job change; at once for a job that does not run. */
  changed(jobId: string): Promise<void> {
    return this.#parts.running.changed(jobId);
  }
}

/** What the scheduler needs to know about a job. */
const orderOf = ({ jobId, spec, owner = '' }: AcceptedJob): JobOrder => ({
  jobId,
  owner,
  priority: spec.priority,
  verifyPercent: spec.verifyPercent,
  waitsForNode: spec.waitForNode,
});
