import type { Hello } from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import type { AcceptedJob } from '../job/accepted-job.ts';
import type { PlannedStep } from '../job/shard.ts';
import { InvalidResultError } from '../ledger/check-answer.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Command } from '../scheduler/commands.ts';
import type { JobOrder, LeaseId, SchedulerEvent } from '../scheduler/events.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import { JobSights } from '../sight/job-sights.ts';
import type { Shown } from '../sight/node-probes.ts';
import { type Eyes, ownEyes } from '../sight/own-view.ts';
import { type ComparableAnswer, comparable } from './answer-digest.ts';
import type { Clock } from './clock.ts';
import { endBecause, JobRun, type JobWork } from './job-run.ts';
import type { AttachedNodeView, NodeConnection, NodeReport, NodeSession } from './node-session.ts';
import { warnOfSharedGpu } from './shared-gpus.ts';
import type { Metrics } from './work-metrics.ts';
import { WorkRecorder } from './work-recorder.ts';

/** Time between looks at the clock; a silent node is noticed this much late at most. */
const tickMs = 100;

/** Jobs whose notes are kept. */
const maxNotedJobs = 100;

export interface DispatcherOptions {
  ledger: Ledger;
  work: JobWork;
  clock: Clock;
  /** A node is lost when it is silent for longer after an order. */
  reportWithinMs: number;
  metrics: Metrics;
  log: Log;
  /** How the coordinator finds out what it sees itself; its own unless given. */
  eyes?: Eyes;
  /** How long a job waits where nodes are attached and none can do what it needs. */
  graceMs?: number;
  /** Calls `task` every `ms` until what it returns is called; timers of the system unless given. */
  every?: (ms: number, task: () => void) => () => void;
}

/**
 * Drives the scheduler: tells it what happens and when, does what it commands, and keeps the ledger. It owns the one
 * timer that time passes by.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #scheduler: Scheduler<ComparableAnswer>;
  readonly #recorder: WorkRecorder;
  readonly #runs = new Map<string, JobRun>();
  readonly #sessions = new Map<number, NodeSession>();
  /** Those who wait for a change of a job. */
  readonly #changes = new Map<string, PromiseWithResolvers<void>>();
  readonly #sights: JobSights;
  /** What a person should know of the plans of the last jobs, a sentence each. */
  readonly #notes = new Map<string, string[]>();
  readonly #stopTicks: () => void;
  #lastSession = 0;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    const { reportWithinMs, graceMs, ledger, metrics, clock, log, eyes = ownEyes, every = systemTimer } = options;
    const grace = graceMs === undefined ? {} : { graceMs };
    this.#scheduler = new Scheduler({ epoch: ledger.epoch, reportWithinMs, tickMs, ...grace });
    this.#sights = new JobSights(
      eyes,
      () => clock.monotonicMs(),
      (session, need, shown) => this.#shown(session, need, shown),
    );
    this.#recorder = new WorkRecorder(metrics, clock, log);
    this.#stopTicks = every(tickMs, () => this.#handle({ kind: 'Tick' }));
  }

  /** The fencing number that leases carry. */
  get epoch(): number {
    return this.#options.ledger.epoch;
  }

  /** Jobs that have not ended. */
  get openJobs(): number {
    return this.#runs.size;
  }

  /** Runs a job whose output folder is claimed. Rejects where the ledger does not take it. */
  async submit(job: AcceptedJob): Promise<void> {
    const { jobId, spec } = job;
    const { ledger, clock, log } = this.#options;
    await ledger.createJob({ jobId, spec, submittedMs: clock.wallMs() });
    log.info({ jobId, sources: spec.sources.length, out: spec.out }, 'A job is accepted');
    this.#handle({ kind: 'JobSubmitted', ...orderOf(job) });
    this.#start(job);
  }

  /**
   * Goes on with a job of the ledger that an earlier coordinator began, and whose output folder is claimed. Rejects with one
   * sentence where what that left is lost.
   */
  async resume(job: AcceptedJob): Promise<void> {
    const { jobId } = job;
    const { ledger, log } = this.#options;
    const open = await ledger.resume(jobId);
    const { counts } = (await ledger.getJob(jobId))!;
    log.info({ jobId, shards: counts.shards, shardsDone: counts.shardsDone }, 'A job goes on');
    this.#start(job);
    // Its shards are leased at once.
    const withNeeds = open.map(({ shard, attempts }) => ({ shard: this.#sights.recovered(jobId, shard), attempts }));
    this.#handle({ kind: 'JobResumed', ...orderOf(job), planned: counts.shards, open: withNeeds });
  }

  #start(job: AcceptedJob): void {
    const { jobId } = job;
    this.#recorder.jobSubmitted(job);
    this.#sights.jobStarted(job);
    const run = new JobRun(job, this.#options, {
      planned: (steps) => this.#planned(jobId, steps),
      planEnded: () => this.#handle({ kind: 'PlanEnded', jobId }),
      queued: () => this.#scheduler.queued(jobId),
      abandoned: () => this.#handle({ kind: 'JobAbandoned', jobId }),
      changed: () => this.#changed(jobId),
    });
    this.#runs.set(jobId, run);
    void run.ended.then(() => {
      this.#runs.delete(jobId);
      this.#sights.jobEnded(jobId);
      this.#recorder.jobEnded(jobId);
    });
  }

  /** Cancels the job if it has not ended, and resolves when it has. */
  async cancel(jobId: string): Promise<void> {
    const run = this.#runs.get(jobId);
    run?.stop({ state: 'cancelled' });
    await run?.ended;
  }

  /** Resolves when the job has ended; at once for one that does not run. */
  async ended(jobId: string): Promise<void> {
    await this.#runs.get(jobId)?.ended;
  }

  /** Resolves when what the ledger says of the job changes; at once for a job that does not run. */
  changed(jobId: string): Promise<void> {
    // Nothing would ever resolve or remove its promise.
    if (!this.#runs.has(jobId)) return Promise.resolve();
    let change = this.#changes.get(jobId);
    if (!change) {
      change = Promise.withResolvers();
      this.#changes.set(jobId, change);
    }
    return change.promise;
  }

  /** Starts a conversation with a welcome, after which leases may be ordered at once; returns its number. */
  attach(hello: Hello, connection: NodeConnection): number {
    const session = ++this.#lastSession;
    const attachedMs = this.#options.clock.wallMs();
    this.#sessions.set(session, { hello, connection, attachedMs, shardsDone: 0, pixelsDone: 0 });
    const { nodeId, name, creditBytes, held, lacks } = hello;
    const brought = held.map(({ verify, ...lease }) => ({ ...lease, isCheck: verify }));
    const joined = { kind: 'NodeJoined', session, nodeId, name, creditBytes, brought, lacks } as const;
    const commands = this.#scheduler.handle(joined, this.#options.clock.monotonicMs());
    const adopted = commands.filter((command) => command.kind === 'AdoptShard');
    connection.welcome(adopted.map(({ lease, isCheck }) => ({ ...lease, isCheck })));
    for (const command of commands) this.#execute(command);
    if (this.#sessions.has(session)) {
      this.#recorder.nodeAttached(hello);
      // The older conversation of a node that attached anew is over by now.
      const attached = [...this.#sessions.values()].map((node) => node.hello);
      warnOfSharedGpu(hello, attached, this.#options.log);
    }
    return session;
  }

  /** Takes a report; those of a conversation that has ended are ignored. */
  report(session: number, report: NodeReport): void {
    const node = this.#sessions.get(session);
    if (!node) return;
    const { name, device } = node.hello;
    if (report.kind === 'NodeLooked') {
      this.#handle({ kind: 'NodeReported', session });
      void this.#sights.probes.answered(session, report.sight);
    } else if (report.kind !== 'ShardCompleted') this.#handle({ ...report, session });
    else this.#handle({ ...report, session, answer: comparable(report.answer, { name, device: device?.name ?? '' }) });
  }

  /** The conversation is over, because the node has drained or because its connection is gone. */
  detach(session: number): void {
    const node = this.#sessions.get(session);
    if (!node) return;
    const isDraining = this.#scheduler.node(session)?.isDraining;
    this.#forgetSession(session);
    this.#recorder.nodeLeft(node.hello, isDraining ? undefined : 'Its connection broke');
    this.#handle({ kind: 'NodeLeft', session });
  }

  /** Every attached node, by name. */
  nodes(): AttachedNodeView[] {
    const { clock } = this.#options;
    const nowMs = clock.monotonicMs();
    const offsetMs = clock.wallMs() - nowMs;
    const views = [...this.#sessions].map(([session, { connection: _, ...node }]): AttachedNodeView => {
      const { asideUntilMs, lacks, failures: shardsFailed, ...known } = this.#scheduler.node(session)!;
      return {
        ...{ ...node, ...known, shardsFailed },
        lacks: lacks.map((lack) => ({ ...lack, sinceMs: Math.round(lack.sinceMs + offsetMs) })),
        asideUntilMs: asideUntilMs > nowMs ? Math.round(asideUntilMs + offsetMs) : 0,
      };
    });
    return views.sort((a, b) => (a.hello.name < b.hello.name ? -1 : 1));
  }

  /**
   * What a job is at. `nodes`: attached ones that hold or held a shard of it; 0 once it has ended. `waiting`: why it does not go
   * on though nodes are attached, in one sentence; empty where it does. `notes`: what was left out of its plan, and the like.
   */
  jobNow(jobId: string): { nodes: number; waiting: string; notes: readonly string[] } {
    const nodeIds = this.#runs.get(jobId)?.nodeIds;
    let nodes = 0;
    for (const { hello } of this.#sessions.values()) if (nodeIds?.has(hello.nodeId)) nodes++;
    return { nodes, waiting: this.#scheduler.whyBlocked(jobId) ?? '', notes: this.#notes.get(jobId) ?? [] };
  }

  /** Shards of the running jobs, by state. */
  shards(): { queued: number; leased: number; done: number } {
    return this.#scheduler.shards();
  }

  /** Stops planning, ends every conversation, and resolves when no job is at work any more. Jobs stay as they are. */
  async close(): Promise<void> {
    this.#stopTicks();
    const runs = [...this.#runs.values()];
    for (const run of runs) run.stop('closing');
    for (const { connection } of this.#sessions.values()) connection.drop('The coordinator stops', false);
    this.#sessions.clear();
    await Promise.all(runs.map((run) => run.ended));
  }

  #handle(event: SchedulerEvent<ComparableAnswer>): void {
    const commands = this.#scheduler.handle(event, this.#options.clock.monotonicMs());
    for (const command of commands) this.#execute(command);
  }

  #execute(command: Command<ComparableAnswer>): void {
    this.#recorder.record(command);
    switch (command.kind) {
      case 'AssignShard':
        this.#assign(command);
        break;
      case 'AdoptShard':
        this.#leased(command);
        break;
      case 'RecallShards':
        this.#sessions.get(command.session)?.connection.recall(command.jobId, command.shards);
        break;
      case 'DropNode': {
        const node = this.#sessions.get(command.session);
        this.#forgetSession(command.session);
        const unheard = command.lost && !command.isFinal ? node?.connection.whyUnheard?.() : undefined;
        const reason = unheard ?? command.reason;
        if (node) this.#recorder.nodeLeft(node.hello, command.lost ? reason : undefined);
        node?.connection.drop(reason, command.isFinal);
        break;
      }
      case 'ProbeNode':
        this.#probe(command.session, command.need);
        break;
      case 'VetAnswer':
        void this.#vet(command);
        break;
      case 'VetOutput':
        void this.#vetOutput(command);
        break;
      case 'SkipShard':
        this.#runs.get(command.jobId)?.queueShrank();
        void this.#settle(command.jobId, command.shard, (ledger) => ledger.skipShard(command.jobId, command.shard));
        break;
      case 'CommitShard':
        void this.#commit(command);
        break;
      case 'QuarantineShard': {
        const { jobId, shard, error, attempts } = command;
        void this.#settle(jobId, shard.shard, (ledger) => ledger.quarantineShard(jobId, shard.shard, error, attempts));
        break;
      }
      case 'FinaliseJob':
        this.#runs.get(command.jobId)?.shardsDone();
        break;
      case 'FailJob':
        this.#fail(command.jobId, new Error(command.error));
        break;
      case 'RecordMismatch':
      case 'RecordWrongAnswer':
      case 'RecordSetAside':
      case 'RecordLack':
      case 'RecordSetback':
        break;
    }
  }

  #planned(jobId: string, steps: PlannedStep[]): void {
    const shards = steps.flatMap((step) => (step.kind === 'shard' ? [this.#sights.planned(jobId, step.shard)] : []));
    this.#recorder.planned(jobId, steps);
    for (const step of steps) if (step.kind === 'note') this.#note(jobId, step.text);
    if (shards.length > 0) this.#handle({ kind: 'ShardsPlanned', jobId, shards });
    this.#changed(jobId);
  }

  #assign({ session, lease, shard, isCheck }: Extract<Command<ComparableAnswer>, { kind: 'AssignShard' }>): void {
    const run = this.#runs.get(lease.jobId);
    const node = this.#sessions.get(session);
    if (!run || !node) return;
    node.connection.lease({ lease, shard, job: run.job, isCheck });
    this.#leased({ session, lease });
  }

  #leased({ session, lease }: { session: number; lease: LeaseId }): void {
    const { jobId, shard, attempt } = lease;
    const node = this.#sessions.get(session);
    if (node) this.#runs.get(jobId)?.shardLeased(node.hello.nodeId);
    this.#options.ledger.addAttempt(jobId, shard, attempt).catch((error) => this.#fail(jobId, error));
    this.#changed(jobId);
  }

  async #commit(command: Extract<Command<ComparableAnswer>, { kind: 'CommitShard' }>): Promise<void> {
    const { lease, answer, session } = command;
    const { ledger, clock } = this.#options;
    const startMs = clock.monotonicMs();
    try {
      const outcome = await ledger.commit({ ...lease, ...answer.content, node: answer.node });
      const pixels = this.#recorder.committed(command, outcome, startMs);
      // An older epoch than the ledger's: another coordinator leads.
      if (outcome === 'stale') throw new Error('The ledger has been taken over by another coordinator');
      // An answer that was checked may be of a node that has left since.
      const node = this.#sessions.get(session);
      if (outcome === 'committed' && node) {
        node.shardsDone++;
        node.pixelsDone += pixels;
      }
      this.#runs.get(lease.jobId)?.resultsCame();
      this.#handle({ kind: 'CommitFinished', jobId: lease.jobId, shard: lease.shard });
      this.#changed(lease.jobId);
    } catch (error) {
      if (error instanceof InvalidResultError) {
        this.#handle({ kind: 'CommitRejected', lease, error: error.message });
      } else this.#fail(lease.jobId, error);
    }
  }

  /** Writes down that a shard is done without a result. */
  async #settle(jobId: string, shard: number, write: (ledger: Ledger) => Promise<void>): Promise<void> {
    try {
      await write(this.#options.ledger);
      this.#runs.get(jobId)?.resultsCame();
      this.#handle({ kind: 'CommitFinished', jobId, shard });
      this.#changed(jobId);
    } catch (caught) {
      this.#fail(jobId, caught);
    }
  }

  #note(jobId: string, text: string): void {
    this.#notes.set(jobId, [...(this.#notes.get(jobId) ?? []), text]);
    const [oldest] = this.#notes.keys();
    if (this.#notes.size > maxNotedJobs) this.#notes.delete(oldest!);
  }

  #probe(session: number, need: string): void {
    const node = this.#sessions.get(session);
    if (!node) return;
    const { hello, connection } = node;
    const isRemote = hello.remoteStorage;
    void this.#sights.probes.ask({ session, isRemote, probe: (probe) => connection.probe(probe) }, need);
  }

  #shown(session: number, need: string, shown: Shown): void {
    if (shown.kind !== 'NobodyWrites') {
      this.#handle({ ...shown, session, need });
      return;
    }
    for (const jobId of this.#sights.jobsThatNeed(need)) {
      this.#fail(jobId, new Error(`The results cannot be written: ${shown.reason}`));
    }
  }

  async #vet({ shard, opinion }: Extract<Command<ComparableAnswer>, { kind: 'VetAnswer' }>): Promise<void> {
    // The scheduler carries answers unread; this one came with a report.
    const answer = (opinion.answer as ComparableAnswer).content;
    const verdict = await this.#sights.vet(shard, answer, opinion.lease.attempt);
    this.#handle({ kind: 'AnswerVetted', opinion, verdict });
  }

  async #vetOutput(command: Extract<Command<ComparableAnswer>, { kind: 'VetOutput' }>): Promise<void> {
    const { session, lease, failure } = command;
    const need = await this.#sights.vetOutput(lease.jobId, failure.error);
    this.#handle({ kind: 'OutputVetted', session, lease, failure, need });
  }

  #forgetSession(session: number): void {
    this.#sessions.delete(session);
    this.#sights.probes.left(session);
  }

  /** Fails the job: the ledger does not take what is written, or the output folder does not. */
  #fail(jobId: string, caught: unknown): void {
    this.#runs.get(jobId)?.stop(endBecause(caught));
  }

  #changed(jobId: string): void {
    this.#changes.get(jobId)?.resolve();
    this.#changes.delete(jobId);
  }
}

function systemTimer(ms: number, task: () => void): () => void {
  const timer = setInterval(task, ms);
  return () => clearInterval(timer);
}

/** What the scheduler is to know of a job. */
const orderOf = ({ jobId, spec }: AcceptedJob): JobOrder => ({
  jobId,
  priority: spec.priority,
  verify: spec.verifyPercent,
  waitsForNode: spec.waitForNode,
});
