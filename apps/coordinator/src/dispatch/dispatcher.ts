import type { Hello, JobHistoryView, LeftNode, PartFound, SearchPart } from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import type { AcceptedJob } from '../job/accepted-job.ts';
import { lackOf } from '../job/output-lack.ts';
import type { PlannedStep } from '../job/shard.ts';
import type { Pause } from '../job/system-pause.ts';
import { WantError } from '../job/want-error.ts';
import type { Ledger, LedgerState, OpenShard } from '../ledger/ledger.ts';
import type { SearchNode } from '../retrieval/orders.ts';
import type { Command } from '../scheduler/commands.ts';
import type { BroughtLease, JobOrder, LeaseId, SchedulerEvent } from '../scheduler/events.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import { JobSights } from '../sight/job-sights.ts';
import { type Eyes, ownEyes } from '../sight/own-view.ts';
import { type ComparableAnswer, comparable } from './answer-digest.ts';
import type { Clock } from './clock.ts';
import type { JobTimeline } from './history/job-histories.ts';
import { JobRun, type JobRunListener, type JobWork } from './job-run.ts';
import type { JobSpans } from './job-spans.ts';
import type { Speed } from './job-speed.ts';
import { LeftNodes } from './left-nodes.ts';
import { NodeQuestions } from './node-questions.ts';
import type { AttachedNodeView, NodeConnection, NodeReport, NodeSession } from './node-session.ts';
import { NodeSessions } from './node-sessions.ts';
import { countShard } from './node-totals.ts';
import { PartSearches } from './part-searches.ts';
import { ResultWriter } from './result-writer.ts';
import { RunningJobs } from './running-jobs.ts';
import { warnOfSharedGpu } from './shared-gpus.ts';
import type { Metrics } from './work-metrics.ts';
import { WorkRecorder } from './work-recorder.ts';

/** Time between looks at the clock; a silent node is noticed this much late at most. */
const tickMs = 100;

export interface DispatcherOptions {
  ledger: Ledger;
  work: JobWork;
  clock: Clock;
  /** A node is lost when it is silent for longer after an order. */
  reportWithinMs: number;
  metrics: Metrics;
  log: Log;
  /** Where somebody collects spans. */
  spans?: JobSpans | undefined;
  /** How the coordinator finds out what it sees itself; its own unless given. */
  eyes?: Eyes;
  /** How long a job waits where nodes are attached and none can do what it needs. */
  graceMs?: number;
  /** The same for a host or bucket that it needs to read from. */
  sourceGraceMs?: number;
  /** The same for room for its results; no limit unless given. */
  spaceGraceMs?: number;
  /** Jobs that other coordinators lead, where there are such. */
  others?: OtherJobs;
  /** Cancels a failed job that could go on; returns false if there is no such job. */
  cancelEnded?: (jobId: string) => Promise<boolean>;
  /** Calls `task` every `ms` until what it returns is called; timers of the system unless given. */
  every?: (ms: number, task: () => void) => () => void;
  /** Waits; by the system's timers unless given. */
  pause?: Pause;
}

/** What is known of jobs that other coordinators lead. */
export interface OtherJobs {
  /** Resolves when the job has ended. */
  cancel(jobId: string): Promise<void>;
  /** What its leader says of it: JobNow as JSON, or nothing. */
  now(jobId: string): string;
}

/** What is known of a job beside what the ledger says. */
export interface JobNow {
  nodes: number;
  waiting: string;
  speed?: Speed | undefined;
}

/**
 * Drives the scheduler: tells it what happens and when, does what it commands, and keeps the ledger. It owns the one
 * timer that time passes by.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #scheduler: Scheduler<ComparableAnswer>;
  readonly #recorder: WorkRecorder;
  readonly #jobs = new RunningJobs();
  readonly #writer: ResultWriter;
  readonly #sessions = new NodeSessions();
  readonly #searches = new PartSearches();
  readonly #left: LeftNodes;
  readonly #sights: JobSights;
  readonly #questions: NodeQuestions;
  readonly #stopTicks: () => void;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    const { reportWithinMs, ledger, metrics, clock, log } = options;
    const { eyes = ownEyes, every = systemTimer } = options;
    this.#scheduler = new Scheduler({ epoch: ledger.epoch, reportWithinMs, tickMs, ...gracesOf(options) });
    const tell = (event: SchedulerEvent<ComparableAnswer>): void => this.#handle(event);
    this.#sights = new JobSights(
      eyes,
      () => clock.monotonicMs(),
      (session, need, shown) => this.#questions.shown(session, need, shown),
    );
    this.#questions = new NodeQuestions(this.#sights, tell);
    this.#left = new LeftNodes(() => clock.wallMs());
    this.#recorder = new WorkRecorder(metrics, clock, log, options.spans);
    this.#writer = new ResultWriter({ ledger, clock, jobs: this.#jobs, recorder: this.#recorder, tell });
    this.#stopTicks = every(tickMs, () => this.#tick());
  }

  /** The fencing number that leases carry. */
  get epoch(): number {
    return this.#options.ledger.epoch;
  }

  /** Jobs that have not ended. */
  get openJobs(): number {
    return this.#jobs.size;
  }

  /** Runs a job whose output folder is claimed. Rejects where the ledger does not take it. */
  async submit(job: AcceptedJob): Promise<void> {
    const { jobId, spec } = job;
    const { ledger, clock, log } = this.#options;
    await ledger.createJob({ jobId, spec, submittedMs: clock.wallMs() });
    log.info({ jobId, sources: spec.sources.length, out: spec.out }, 'A job is accepted');
    this.#handle({ kind: 'JobSubmitted', ...orderOf(job), epoch: ledger.epochOf(jobId) });
    this.#start(job);
  }

  /**
   * Goes on with a job of the ledger that an earlier coordinator began, and whose output folder is claimed. Nodes have `bringMs` to
   * bring along what they have of it, `reportWithinMs` unless given; those that are attached are asked for it. Rejects with one sentence where what that left is lost.
   */
  async resume(job: AcceptedJob, bringMs?: number): Promise<void> {
    const { ledger } = this.#options;
    const open = await ledger.resume(job.jobId).catch((error) => {
      // Resuming copies its file of histograms, which needs room.
      if (lackOf(error)) return undefined;
      throw error;
    });
    if (open) {
      this.#start(job);
      await this.#goOn(job, open, bringMs);
    } else this.#start(job, async () => this.#goOn(job, await ledger.resume(job.jobId), bringMs));
  }

  async #goOn(job: AcceptedJob, open: OpenShard[], bringMs?: number): Promise<void> {
    const { jobId } = job;
    const { ledger, log } = this.#options;
    const { counts } = (await ledger.getJob(jobId))!;
    log.info({ jobId, shards: counts.shards, shardsDone: counts.shardsDone }, 'A job goes on');
    // Its shards are leased at once.
    const withNeeds = open.map(({ shard, attempts }) => ({ shard: this.#sights.recovered(jobId, shard), attempts }));
    const epoch = ledger.epochOf(jobId);
    for (const [, { connection }] of this.#sessions.entries()) connection.bring(jobId, epoch);
    this.#handle({
      kind: 'JobResumed',
      ...orderOf(job),
      epoch,
      planned: counts.shards,
      open: withNeeds,
      bringMs,
    });
  }

  /** `begin` is called before anything else, as soon as the output can be written. */
  #start(job: AcceptedJob, begin?: () => Promise<void>): void {
    const { jobId } = job;
    this.#recorder.jobSubmitted(job);
    this.#sights.jobStarted(job);
    const listener: JobRunListener = {
      planned: (steps) => this.#planned(jobId, steps),
      planEnded: () => this.#handle({ kind: 'PlanEnded', jobId }),
      queued: () => this.#scheduler.queued(jobId),
      abandoned: () => this.#handle({ kind: 'JobAbandoned', jobId }),
      changed: (state) => {
        this.#recorder.jobIs(jobId, state);
        this.#jobs.tellChanged(jobId);
      },
    };
    const { graceMs: folder = Number.POSITIVE_INFINITY, spaceGraceMs: room = Number.POSITIVE_INFINITY } = this.#options;
    const run = new JobRun(job, { ...this.#options, outputGraces: { room, folder } }, listener, begin);
    this.#jobs.add(run, () => {
      this.#sights.jobEnded(jobId);
      this.#recorder.jobEnded(jobId);
    });
  }

  /** Counts a job of an earlier coordinator that ended without going on. */
  endedBefore(jobId: string, state: LedgerState): void {
    this.#recorder.jobIs(jobId, state);
  }

  /** Cancels the job if it has not ended, and resolves when it has. */
  async cancel(jobId: string): Promise<void> {
    if (this.#jobs.get(jobId)) await this.#jobs.cancel(jobId);
    else if (!(await this.#options.cancelEnded?.(jobId))) await this.#options.others?.cancel(jobId);
  }

  /** Resolves when the job has ended; at once for one that does not run. */
  ended(jobId: string): Promise<void> {
    return this.#jobs.ended(jobId);
  }

  /** Resolves when what the ledger says of the job changes; at once for a job that does not run. */
  changed(jobId: string): Promise<void> {
    return this.#jobs.changed(jobId);
  }

  /** Starts a conversation with a welcome, after which leases may be ordered at once; returns its number. */
  attach(hello: Hello, connection: NodeConnection): number {
    const { clock, log } = this.#options;
    const session = this.#sessions.open(hello, connection, clock.wallMs());
    const { nodeId, name, creditBytes, decoders, hasComputed, held, lacks } = hello;
    this.#left.attached(nodeId);
    const told = { nodeId, name, creditBytes, decoders, hasComputed, brought: held, lacks };
    const joined = { kind: 'NodeJoined', session, ...told } as const;
    const commands = this.#scheduler.handle(joined, clock.monotonicMs());
    connection.welcome(adoptedOf(commands));
    for (const command of commands) this.#execute(command);
    if (this.#sessions.get(session)) {
      this.#recorder.nodeAttached(hello);
      // The older conversation of a node that attached anew is over by now.
      warnOfSharedGpu(hello, this.#sessions.hellos(), log);
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
    } else if (report.kind === 'NodeSearched') {
      this.#handle({ kind: 'NodeReported', session });
      this.#searches.answered(session, report.found);
    } else if (report.kind === 'NodeLoaded') {
      node.load = report.load;
      this.#handle({ kind: 'NodeReported', session });
    } else if (report.kind === 'NodeCredited') {
      const { creditBytes } = report;
      node.hello = { ...node.hello, creditBytes };
      node.connection.creditTaken(creditBytes);
      this.#handle({ ...report, session });
    } else if (report.kind === 'NodeBrought') this.#brought(session, node, report);
    else if (report.kind !== 'ShardCompleted') this.#handle({ ...report, session });
    else this.#handle({ ...report, session, answer: comparable(report.answer, { name, device: device?.name ?? '' }) });
  }

  /** What goes on is said before anything else is leased. */
  #brought(session: number, node: NodeSession, report: Extract<NodeReport, { kind: 'NodeBrought' }>): void {
    const { jobId, brought, creditBytes } = report;
    node.hello = { ...node.hello, creditBytes };
    node.connection.creditTaken(creditBytes);
    const event = { kind: 'NodeBrought', session, brought, creditBytes } as const;
    const commands = this.#scheduler.handle(event, this.#options.clock.monotonicMs());
    node.connection.kept(jobId, adoptedOf(commands));
    for (const command of commands) this.#execute(command);
  }

  /** The conversation is over, because the node has drained or because its connection is gone. */
  detach(session: number): void {
    const node = this.#sessions.get(session);
    if (!node) return;
    const isDraining = this.#scheduler.node(session)?.isDraining;
    this.#forgetSession(session);
    const lostBecause = isDraining ? undefined : 'Its connection broke';
    this.#left.left(node, lostBecause);
    this.#recorder.nodeLeft(node.hello, lostBecause);
    this.#handle({ kind: 'NodeLeft', session });
  }

  /** Every attached node, by name. */
  nodes(): AttachedNodeView[] {
    const { clock } = this.#options;
    const nowMs = clock.monotonicMs();
    return this.#sessions.views((session) => this.#scheduler.node(session)!, nowMs, clock.wallMs() - nowMs);
  }

  /** The nodes that may be asked to look through parts of indexes. */
  searchNodes(): SearchNode[] {
    const able = this.#sessions
      .entries()
      .filter(([session, { hello }]) => hello.searches && !this.#scheduler.node(session)?.isDraining);
    return able.map(([session, { hello }]) => ({ session, id: hello.nodeId, device: hello.device?.kind ?? '' }));
  }

  /** Has the node look through a part of an index. Rejects with one sentence where it is gone before it answers. */
  async searchPart(session: number, part: Omit<SearchPart, 'search'>): Promise<PartFound> {
    const connection = this.#sessions.get(session)?.connection;
    if (!connection) throw new Error('The node is gone');
    return this.#searches.ask({ session, search: (order) => connection.search(order) }, part);
  }

  /** Nodes that left or were lost within a day, the last one first. */
  leftNodes(): LeftNode[] {
    return this.#left.list();
  }

  /** When shards of a job were where; undefined as `history`. */
  timeline(jobId: string): JobTimeline | undefined {
    return this.#recorder.histories.timeline(jobId, this.#options.clock.monotonicMs());
  }

  /** What a job did over its time; undefined where this process did not see it, or it ended too long ago. */
  history(jobId: string): JobHistoryView | undefined {
    return this.#recorder.histories.view(jobId, this.#options.clock.monotonicMs());
  }

  /**
   * What a job is at. `nodes`: attached ones that hold or held a shard of it; 0 once it has ended. `waiting`: why it does not go
   * on though nodes are attached, in one sentence; empty where it does. `speed`: how fast it goes, where it does.
   */
  jobNow(jobId: string): JobNow {
    const run = this.#jobs.get(jobId);
    const told = run ? '' : this.#options.others?.now(jobId);
    if (told) return JSON.parse(told) as JobNow;
    const nodeIds = run?.nodeIds;
    const nodes = this.#sessions.hellos().filter(({ nodeId }) => nodeIds?.has(nodeId)).length;
    const speed = run?.speed.at(this.#options.clock.monotonicMs());
    return { nodes, waiting: this.#whyWaiting(jobId), speed };
  }

  /** `jobNow` of each job that runs here, for those who ask other coordinators. */
  jobsNow(): Map<string, string> {
    return new Map(this.#jobs.ids().map((jobId) => [jobId, JSON.stringify(this.jobNow(jobId))]));
  }

  /** Shards of the running jobs, by state. */
  shards(): { queued: number; leased: number; done: number } {
    return this.#scheduler.shards();
  }

  /** Stops planning, ends every conversation, and resolves when no job is at work any more. Jobs stay as they are. */
  async close(): Promise<void> {
    this.#stopTicks();
    const closed = this.#jobs.close();
    for (const [session] of this.#sessions.entries()) this.#searches.left(session);
    this.#sessions.dropAll('The coordinator stops');
    await closed;
  }

  #whyWaiting(jobId: string): string {
    return this.#jobs.get(jobId)?.waiting ?? this.#scheduler.whyBlocked(jobId) ?? '';
  }

  #tick(): void {
    this.#handle({ kind: 'Tick' });
    for (const jobId of this.#jobs.ids()) {
      this.#jobs.get(jobId)?.checkOutput();
      const isNew = this.#jobs.get(jobId)?.waits(this.#whyWaiting(jobId), this.#scheduler.awaitedPlace(jobId));
      if (isNew) this.#jobs.tellChanged(jobId);
    }
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
        // One that is dropped because it attached anew is there.
        if (node && command.lost) this.#left.left(node, reason);
        if (node) this.#recorder.nodeLeft(node.hello, command.lost ? reason : undefined);
        node?.connection.drop(reason, command.isFinal);
        break;
      }
      case 'ProbeNode':
        this.#questions.probe(command, this.#sessions.get(command.session));
        break;
      case 'VetAnswer':
        void this.#questions.vet(command);
        break;
      case 'VetOutput':
        void this.#questions.vetOutput(command);
        break;
      case 'SkipShard':
        this.#jobs.get(command.jobId)?.queueShrank();
        void this.#writer.skip(command.jobId, command.shard);
        break;
      case 'CommitShard': {
        // The node may have left when the shard is written, and may come back.
        const totals = this.#sessions.get(command.session)?.totals;
        void this.#writer.commit(command, (pixels) => {
          if (totals) countShard(totals, pixels);
          const { clock } = this.#options;
          this.#jobs.get(command.lease.jobId)?.speed.count(clock.monotonicMs(), pixels);
        });
        break;
      }
      case 'QuarantineShard': {
        const { jobId, shard, error, attempts } = command;
        void this.#writer.quarantine(jobId, shard.shard, error, attempts);
        break;
      }
      case 'FinaliseJob':
        this.#jobs.get(command.jobId)?.shardsDone();
        break;
      case 'FailJob':
        this.#jobs.fail(command.jobId, new (command.isWant ? WantError : Error)(command.error));
        break;
      case 'RecordSetback':
        if (command.setback === 'failed') {
          this.#sessions.failed(command.nodeId, command.error, this.#options.clock.wallMs());
        }
        break;
      case 'RecordMismatch':
      case 'RecordWrongAnswer':
      case 'RecordSetAside':
      case 'RecordLack':
        break;
    }
  }

  #planned(jobId: string, steps: PlannedStep[]): void {
    const shards = steps.flatMap((step) => (step.kind === 'shard' ? [this.#sights.planned(jobId, step.shard)] : []));
    this.#recorder.planned(jobId, steps);
    if (shards.length > 0) this.#handle({ kind: 'ShardsPlanned', jobId, shards });
    this.#jobs.tellChanged(jobId);
  }

  #assign({ session, lease, shard, verify }: Extract<Command<ComparableAnswer>, { kind: 'AssignShard' }>): void {
    const run = this.#jobs.get(lease.jobId);
    const node = this.#sessions.get(session);
    if (!run || !node) return;
    node.connection.lease({ lease, shard, job: run.job, verify });
    this.#leased({ session, lease });
  }

  #leased({ session, lease }: { session: number; lease: LeaseId }): void {
    const { jobId, shard, attempt } = lease;
    const node = this.#sessions.get(session);
    if (node) this.#jobs.get(jobId)?.shardLeased(node.hello.nodeId);
    this.#options.ledger.addAttempt(jobId, shard, attempt).catch((error) => this.#jobs.fail(jobId, error));
    this.#jobs.tellChanged(jobId);
  }

  #forgetSession(session: number): void {
    this.#sessions.delete(session);
    this.#sights.probes.left(session);
    this.#searches.left(session);
  }
}

const gracesOf = ({ graceMs, sourceGraceMs, spaceGraceMs }: DispatcherOptions) => ({
  ...(graceMs !== undefined && { graceMs }),
  ...(sourceGraceMs !== undefined && { sourceGraceMs }),
  ...(spaceGraceMs !== undefined && { spaceGraceMs }),
});

/** The leases that a node brought along and that go on. */
function adoptedOf(commands: readonly Command<ComparableAnswer>[]): BroughtLease[] {
  const adopted = commands.filter((command) => command.kind === 'AdoptShard');
  return adopted.map(({ lease, verify }) => ({ ...lease, verify }));
}

function systemTimer(ms: number, task: () => void): () => void {
  const timer = setInterval(task, ms);
  return () => clearInterval(timer);
}

/** What the scheduler is to know of a job. */
const orderOf = ({ jobId, spec }: AcceptedJob): JobOrder => ({
  jobId,
  priority: spec.priority,
  verifyPercent: spec.verifyPercent,
  waitsForNode: spec.waitForNode,
});
