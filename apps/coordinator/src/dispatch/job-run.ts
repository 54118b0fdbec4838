import type { AcceptedJob } from '@halogrid/jobs/accepted-job';
import { coordinatorLack, waitsForHost } from '@halogrid/jobs/away-sentences';
import { outputName, outputPath } from '@halogrid/jobs/output-paths';
import { isUnmeant } from '@halogrid/jobs/refusal';
import { isRecorded, type KeptShard, type PlannedStep } from '@halogrid/jobs/shard';
import { isEnd, type Ledger, type LedgerState } from '@halogrid/ledger';
import type { FoundInPart } from '@halogrid/results/part-writer';
import type { Log } from '@halogrid/service';
import type { Clock } from '@halogrid/service/clock';
import { type Pause, systemPause } from '@halogrid/service/system-pause';
import { traced } from '@halogrid/service/trace-context';
import type { AwayHost } from '@halogrid/sources';
import { zonelessNotes } from '../output/captured-by.ts';
import type { FinishedOutput } from '../output/finalise.ts';
import { LostPartError } from '../output/lost-part-error.ts';
import { type OutputGraces, OutputWait } from '../output/output-wait.ts';
import type { PicturesAhead } from '../output/pictures-ahead.ts';
import type { KeptReader } from '../output/previous/kept-reader.ts';
import type { TablesOutput } from '../output/tables-output.ts';
import { continuePlan } from '../plan/continue-plan.ts';
import { runPlan } from '../plan/run-plan.ts';
import { type Eyes, ownEyes } from '../sight/own-view.ts';
import { HostTime } from './host-time.ts';
import { JobNotes } from './job-notes.ts';
import { JobSpeed } from './job-speed.ts';
import { endBecause, type JobEnd, type JobWork } from './job-work.ts';
import { KeptShards } from './kept-shards.ts';
import { LostParts, type LostShard } from './lost-parts.ts';
import { whyTooManyQuarantined } from './quarantine-limit.ts';
import { QueueRoom } from './queue-room.ts';
import { type QueueSeconds, QueueTime } from './queue-time.ts';

/** Callbacks from a running job to its driver. */
export interface JobRunListener {
  /** Steps that are in the ledger by now, and notes. */
  planned(steps: PlannedStep[]): void;
  planEnded(): void;
  /** Shards that wait for a node now, and the sources in them. */
  queued(): { shards: number; sources: number };
  /** Whether nodes have shards of other jobs now. */
  isBesideOthers(): boolean;
  lost(shard: LostShard): void;
  /** Its results are not needed any more. */
  abandoned(): void;
  /** The ledger has the job in this state. */
  changed(state: LedgerState): void;
}

export interface JobRunOptions {
  ledger: Ledger;
  work: JobWork;
  clock: Clock;
  log: Log;
  /** How long to wait for an output that cannot be written; no limit by default. */
  outputGraces?: OutputGraces;
  /** As in the options of the dispatcher. */
  eyes?: Eyes;
  pause?: Pause;
  maxQueuedShards?: number;
}

const noEnd: OutputGraces = { room: Number.POSITIVE_INFINITY, folder: Number.POSITIVE_INFINITY };

/** The place of an output for sentences on what it lacks. An output in a bucket needs its scratch, too. */
function placeOf(out: string): string {
  const path = outputPath(out);
  const name = outputName(path);
  return name === path ? path : `${name}, scratch ${path}`;
}

/** The life of a job, from its acceptance, or from the point where an earlier coordinator left it, to its end. */
export class JobRun {
  readonly job: AcceptedJob;
  /** Resolves when the job has ended; never rejects. */
  readonly ended: Promise<void>;

  /** None of its shards is leased. */
  isPaused = false;
  /** Ids of the nodes that ever held one of its shards. */
  readonly nodeIds = new Set<string>();
  readonly speed = new JobSpeed();
  readonly #queueTime = new QueueTime();
  readonly #hostTime = new HostTime();
  #waited = '';

  readonly #ledger: Ledger;
  readonly #work: JobWork;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #listener: JobRunListener;
  readonly #wait: OutputWait;
  readonly #lostParts: LostParts;
  #tables: TablesOutput;
  #earlier: Pick<KeptReader, 'keep' | 'end'> | undefined;
  readonly #kept: KeptShards;
  /** Sources that get a preview, once all are listed. */
  #previewed: readonly number[] | undefined;
  #pictures: Pick<PicturesAhead, 'advance' | 'end'> | undefined;
  readonly #notes: JobNotes;
  readonly #stopped = new AbortController();
  /** Replaced when a shard is to be done again. */
  #shardsDone = Promise.withResolvers<void>();
  /** Resolves when all known losses are withdrawn. */
  #losing: Promise<void> | undefined;
  #isFinalising = false;
  readonly #room: QueueRoom;
  /** The host that its plan waits for. */
  #away: AwayHost | undefined;

  constructor(job: AcceptedJob, options: JobRunOptions, listener: JobRunListener, begin?: () => Promise<void>) {
    const { ledger, work, clock, log, outputGraces = noEnd, eyes = ownEyes, pause = systemPause } = options;
    this.job = job;
    this.#ledger = ledger;
    this.#work = work;
    this.#clock = clock;
    this.#log = log.child(traced({ jobId: job.jobId }));
    this.#listener = listener;
    this.#wait = new OutputWait({
      folder: placeOf(job.spec.out),
      graceMs: outputGraces,
      nowMs: () => clock.monotonicMs(),
      pause,
      free: () => eyes.free(job.scratch),
      signal: this.#stopped.signal,
    });
    this.#lostParts = new LostParts({
      jobId: job.jobId,
      spec: job.spec,
      ledger,
      log: this.#log,
      until: this.#wait.until,
      lostShards: async (answered) => (await work.lostShards?.(job, answered)) ?? [],
    });
    this.#tables = this.#openTables();
    this.#kept = new KeptShards(
      (shards) => this.#wait.until(() => this.#keep(shards)),
      () => this.queueShrank(),
    );
    this.#notes = new JobNotes(ledger, job.jobId);
    this.#room = new QueueRoom(() => {
      const { shards, sources } = listener.queued();
      return { shards, sources: sources + this.#kept.sources };
    }, options.maxQueuedShards);
    this.ended = this.#run(begin);
  }

  /** One of its shards was leased to this node. */
  shardLeased(nodeId: string): void {
    this.nodeIds.add(nodeId);
    this.speed.begin(this.#clock.monotonicMs());
    this.#lookAtQueue();
    this.#ledger.noteTime(this.job.jobId, 'leasedMs', this.#clock.wallMs());
    this.#tables.start();
    this.queueShrank();
  }

  /** A sentence that says what its output or its plan waits for; undefined if it does not wait. */
  get waiting(): string | undefined {
    return this.#wait.sentence ?? (this.#away && waitsForHost(coordinatorLack(this.#away)));
  }

  /** Fails the job if its results could not be written to its folder for too long. To be called now and then. */
  checkOutput(): void {
    try {
      this.#wait.note(this.#ledger, this.#ledger.outputLack(this.job.jobId));
    } catch (error) {
      this.stop(endBecause(error));
    }
  }

  /** The seconds since the last call in which shards of it waited for nodes, each under a name of busy_seconds. */
  takeQueuedSeconds(): QueueSeconds {
    this.#lookAtQueue();
    return this.#queueTime.take();
  }

  /** The seconds in which it waited for hosts since the last call, by host. */
  takeHostSeconds(): Record<string, number> {
    return this.#hostTime.take();
  }

  /** Notes why the job waits, and for which host. Returns true if the reason has changed. */
  waits(waiting: string, place = this.#away?.place): boolean {
    this.#hostTime.look(this.#clock.monotonicMs(), place);
    const isNew = waiting !== this.#waited;
    this.#waited = waiting;
    return isNew;
  }

  /** The number of its waiting shards fell. */
  queueShrank(): void {
    this.#room.shrank();
  }

  /** The ledger has more results, or has quarantined sources. */
  resultsCame(): void {
    this.#tables.advance();
    void this.#pictures?.advance();
    this.#checkQuarantined().catch((error) => this.stop(endBecause(error)));
  }

  /** The results of a kept shard; undefined once the job's results are not needed any more. */
  async keep(shard: KeptShard): Promise<FoundInPart | undefined> {
    const kept = await this.#kept.add(shard).catch((error) => {
      if (!this.#stopped.signal.aborted) throw error;
    });
    return this.#stopped.signal.aborted ? undefined : (kept ?? undefined);
  }

  async #keep(shards: readonly KeptShard[]): Promise<FoundInPart[]> {
    this.#stopped.signal.throwIfAborted();
    this.#earlier ??= this.#work.earlier!(this.job);
    return this.#earlier.keep(shards);
  }

  /** Every shard is committed or quarantined. */
  shardsDone(): void {
    this.#shardsDone.resolve();
  }

  /** Ends the job early; `closing` leaves it as it is in the ledger and in its folder. Only the first call counts. */
  stop(how: JobEnd | 'closing'): void {
    this.#stopped.abort(how);
    void this.#tables.abort();
    // Callers that wait for the ledger may be waiting for the disk of the output.
    if (how !== 'closing') void this.#ledger.giveUp(this.job.jobId);
    this.#room.end();
    this.#shardsDone.resolve();
  }

  async #run(begin?: () => Promise<void>): Promise<void> {
    const stopped = this.#stopped.signal;
    try {
      if (begin) await this.#wait.until(begin);
      await this.#plan();
      const { digest, captured } = await this.#untilFinished();
      const notes = zonelessNotes(captured);
      this.#notes.add(notes);
      if (notes.length > 0) this.#listener.planned(notes);
      await this.#setState('complete', { digest });
      this.#log.info({ digest }, 'The job is complete');
    } catch (error) {
      const how: JobEnd | 'closing' = stopped.aborted ? stopped.reason : endBecause(error);
      if (isUnmeant(error)) this.#log.error({ err: error }, 'The coordinator itself failed');
      this.#listener.abandoned();
      await this.#tables.abort();
      await this.#pictures?.end();
      await this.#kept.end();
      if (how !== 'closing') await this.#giveUp(how);
    } finally {
      await this.#earlier?.end();
      this.#work.release(this.job.spec.out, this.job.jobId);
    }
  }

  /** Writes the output once all shards are done, again after each loss of a part. */
  async #untilFinished(): Promise<FinishedOutput> {
    for (;;) {
      const done = this.#shardsDone;
      await done.promise;
      await this.#checkQuarantined();
      this.#stopped.signal.throwIfAborted();
      await this.#losing;
      if (done !== this.#shardsDone) continue;
      this.#isFinalising = true;
      await this.#setState('finalising');
      try {
        return await this.#finalise();
      } catch (error) {
        if (!(error instanceof LostPartError)) throw error;
        this.#isFinalising = false;
        await this.#setState('running');
        await this.#lost(error);
      }
    }
  }

  async #finalise(): Promise<FinishedOutput> {
    const { job } = this;
    const results = await this.#wait.until(() => this.#ledger.results(job.jobId));
    await this.#pictures?.end();
    const leader = { epoch: this.#ledger.logEpochOf(job.jobId), confirm: () => this.#ledger.confirm(job.jobId) };
    const begun = { ...leader, tables: this.#tables, until: this.#wait.until, previewed: this.#previewed };
    return this.#work.finalise(results, job.pipeline, begun, this.#clock.wallMs, this.#stopped.signal);
  }

  #openTables(): TablesOutput {
    const { jobId } = this.job;
    return this.#work.tables(this.job, {
      epoch: this.#ledger.logEpochOf(jobId),
      settled: (from, atMost) => this.#ledger.settled(jobId, from, atMost),
      failed: (error) => {
        if (!(error instanceof LostPartError)) return this.stop(endBecause(error));
        // `#untilFinished` meets the same loss, and handles it.
        if (this.#isFinalising) return;
        this.#losing = this.#lost(error).catch((caught) => this.stop(endBecause(caught)));
      },
      until: this.#wait.until,
    });
  }

  /** Has lost shards done again, and the tables written from the beginning. Rejects as LostParts.withdraw. */
  async #lost(error: LostPartError): Promise<void> {
    await this.#tables.abort();
    const lost = await this.#lostParts.withdraw(error);
    this.#tables = this.#openTables();
    this.#tables.start();
    if (lost.length === 0) return;
    // Callers that wait for the previous promise check again.
    this.#shardsDone.resolve();
    this.#shardsDone = Promise.withResolvers();
    if (this.#stopped.signal.aborted) this.#shardsDone.resolve();
    for (const one of lost) this.#listener.lost(one);
  }

  async #plan(): Promise<void> {
    const { jobId, spec, pipeline } = this.job;
    const { state, planned, notes = [] } = (await this.#ledger.getJob(jobId))!;
    if (state === 'pending') await this.#setState('running');
    // A resumed job may allow fewer quarantined inputs than before.
    await this.#checkQuarantined();
    if (planned) {
      this.#notes.load(notes);
      return this.#listener.planEnded();
    }
    const steps = this.#work.plan(spec, pipeline, this.#stopped.signal);
    await runPlan(continuePlan(this.#ledger.recordedPlan(jobId), steps), {
      write: async (steps) => {
        const recorded = steps.filter(isRecorded);
        this.#notes.add(steps);
        await this.#ledger.addPlan(jobId, recorded, false);
        this.#listener.planned(steps);
        for (const step of steps) {
          if (step.kind === 'previews') this.#makePictures(step.chosen);
          else if (step.kind === 'waits') this.#away = step.away;
        }
        await this.#checkQuarantined();
      },
      room: async () => {
        await this.#room.wait();
        this.#stopped.signal.throwIfAborted();
      },
    });
    this.#ledger.noteTime(jobId, 'listedMs', this.#clock.wallMs());
    await this.#ledger.addPlan(jobId, [], true);
    this.#listener.planEnded();
    await this.#checkQuarantined();
  }

  #makePictures(chosen: readonly number[]): void {
    const { job } = this;
    this.#previewed = chosen;
    if (this.#stopped.signal.aborted) return;
    this.#pictures = this.#work.pictures?.(job, chosen, (from, atMost) =>
      this.#ledger.settled(job.jobId, from, atMost),
    );
  }

  /** Fails the job if more inputs are quarantined than it allows. */
  async #checkQuarantined(): Promise<void> {
    const { jobId, spec } = this.job;
    if (!spec.maxQuarantined) return;
    const record = await this.#ledger.getJob(jobId);
    const error = record && whyTooManyQuarantined(spec.maxQuarantined, record);
    if (error) this.stop({ state: 'failed', error });
  }

  #lookAtQueue(): void {
    const isQueued = this.#listener.queued().shards > 0;
    this.#queueTime.look(this.#clock.monotonicMs(), isQueued, isQueued && this.#listener.isBesideOthers());
  }

  async #giveUp(end: JobEnd): Promise<void> {
    const error = end.state === 'failed' ? end.error : '';
    if (error) this.#log.error(`The job failed: ${error}`);
    else this.#log.info('The job is cancelled');
    let canGoOn = false;
    try {
      const record = await this.#ledger.getJob(this.job.jobId);
      // If another leader has the output by now, this rejects.
      await this.#ledger.confirm(this.job.jobId);
      if (record) canGoOn = await this.#work.abandon(record, end, this.#clock.wallMs());
    } catch (caught) {
      this.#log.error({ err: caught }, 'The output folder could not be cleared');
    }
    try {
      await this.#setState(end.state, { error, canGoOn });
    } catch (caught) {
      this.#log.error({ err: caught }, 'The ledger could not take the end of the job');
    }
  }

  async #setState(
    state: LedgerState,
    more: { error?: string; digest?: string; canGoOn?: boolean } = {},
  ): Promise<void> {
    // The speed ends before the end of the job becomes visible.
    if (isEnd(state)) this.speed.end();
    await this.#ledger.setState(this.job.jobId, state, { nowMs: this.#clock.wallMs(), ...more });
    this.#listener.changed(state);
  }
}
