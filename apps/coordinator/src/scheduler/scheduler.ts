import { nodeBrought } from './adopt.ts';
import { commitRejected, shardCompleted, shardFailed, shardReturned } from './answer-events.ts';
import type { Command } from './commands.ts';
import type { Comparable, SchedulerEvent } from './events.ts';
import {
  commitFinished,
  jobAbandoned,
  jobPaused,
  jobResumed,
  jobSubmitted,
  planEnded,
  shardLost,
  shardsPlanned,
} from './job-events.ts';
import { leaseToAll } from './leases.ts';
import {
  needLacked,
  needShown,
  nodeCredited,
  nodeDraining,
  nodeJoined,
  nodeLeft,
  shardInPart,
  ticked,
} from './node-events.ts';
import {
  createState,
  plannedForNodes,
  queuedShards,
  type SchedulerOptions,
  type SchedulerState,
  type Turn,
} from './scheduler-state.ts';
import { awaitedPlace, whyBlocked } from './sights.ts';
import { answerVetted, outputVetted } from './vetting.ts';
import { whyHeldBack } from './why-held-back.ts';

/** The scheduler's view of a node, with times of its clock. */
export interface NodeView {
  leases: number;
  /** How many of them count against its credit, and their cost. */
  computing: number;
  leasedBytes: number;
  isDraining: boolean;
  /** Shards that it failed, in all its conversations. */
  failures: number;
  /** Needs that it lacks. */
  lacks: { need: string; reason: string; sinceMs: number }[];
  /** Needs that it has shown to meet. */
  shown: string[];
  /** Until when it gets no shards because it fails too often; in the past if it gets some. */
  asideUntilMs: number;
}

/** Shards for nodes, by state. */
export type ShardCounts = Record<'queued' | 'paused' | 'leased' | 'done', number>;

/**
 * Decides which node computes which shard. It knows no clock, socket or ledger: `handle` takes an event and the time in
 * milliseconds (of any clock that never goes back) and returns what is to be done about it, in order.
 *
 *     queued ──lease──► leased ──completed──► settling ──CommitFinished──► done
 *       ▲                 │                      │                           │
 *       └──failed, lost,──┴────CommitRejected────┘                           │
 *       │  to be verified                                                    │
 *       └───────────────── a late answer contradicts what was committed ─────┘
 *
 * A shard that failed or was lost too often goes to settling instead, to be recorded as quarantined.
 */
export class Scheduler<Answer extends Comparable> {
  readonly #state: SchedulerState;

  constructor(options: SchedulerOptions) {
    this.#state = createState(options);
  }

  handle(event: SchedulerEvent<Answer>, now: number): Command<Answer>[] {
    const turn: Turn<Answer> = { state: this.#state, now, commands: [] };
    apply(turn, event);
    return turn.commands;
  }

  /** How many shards of the job wait for a node, and how many sources they hold; 0 for a job it does not know. */
  queued(jobId: string): { shards: number; sources: number } {
    const job = this.#state.jobs.get(jobId);
    if (!job) return { shards: 0, sources: 0 };
    return { shards: queuedShards(job), sources: job.fresh.weight + job.retries.weight };
  }

  /** Whether nodes have shards of a job other than this one. */
  hasLeasesBeside(jobId: string): boolean {
    for (const job of this.#state.jobs.values()) {
      if (job.jobId !== jobId && job.open.size > queuedShards(job)) return true;
    }
    return false;
  }

  /**
   * How many shards for nodes the jobs have. Shards being written to the ledger count as leased; shards of kept sources
   * do not count. `paused`: shards that would be queued if their jobs were not paused.
   */
  shards(): ShardCounts {
    const sum = { queued: 0, paused: 0, leased: 0, done: 0 };
    for (const job of this.#state.jobs.values()) {
      const queued = queuedShards(job);
      sum[job.isPaused ? 'paused' : 'queued'] += queued;
      sum.leased += job.open.size - queued;
      sum.done += plannedForNodes(job) - job.open.size;
    }
    return sum;
  }

  /** The bytes that the leases of each owner hold. */
  leasedBytes(): ReadonlyMap<string, number> {
    return new Map([...this.#state.shares.values()].map(({ owner, leasedBytes }) => [owner, leasedBytes]));
  }

  /** Why the job waits although nodes are attached; undefined if it does not wait. */
  whyBlocked(jobId: string): string | undefined {
    const job = this.#state.jobs.get(jobId);
    return job && whyBlocked(this.#state, job);
  }

  /** Why no shard that is left of the job is leased for a while; undefined if a shard is leased or could be. */
  whyHeldBack(jobId: string, now: number): string | undefined {
    const job = this.#state.jobs.get(jobId);
    return job && whyHeldBack(this.#state, job, now);
  }

  /** The host or bucket that the job waits for; undefined if it waits for none. */
  awaitedPlace(jobId: string): string | undefined {
    const job = this.#state.jobs.get(jobId);
    return job && awaitedPlace(this.#state, job);
  }

  /** The node as it is now; undefined when it is not attached. */
  node(session: number): NodeView | undefined {
    const node = this.#state.nodes.get(session);
    if (!node) return undefined;
    const { nodeId, leases, computing, leasedBytes, isDraining, health } = node;
    const lacks = [...node.sights].flatMap(([need, sight]) => {
      return sight.kind === 'lacking' ? [{ need, reason: sight.reason, sinceMs: sight.sinceMs }] : [];
    });
    const shown = [...node.sights].flatMap(([need, { kind }]) => (kind === 'shown' ? [need] : []));
    const { asideUntilMs } = health;
    const failures = this.#state.failures.get(nodeId) ?? 0;
    return { leases: leases.size, computing, leasedBytes, isDraining, failures, lacks, shown, asideUntilMs };
  }
}

function apply<A extends Comparable>(turn: Turn<A>, event: SchedulerEvent<A>): void {
  if ('session' in event) {
    const node = turn.state.nodes.get(event.session);
    if (node) node.deadlineMs = turn.now + turn.state.reportWithinMs;
  }
  switch (event.kind) {
    case 'JobSubmitted':
      jobSubmitted(turn, event);
      break;
    case 'JobResumed':
      jobResumed(turn, event);
      break;
    case 'ShardsPlanned':
      shardsPlanned(turn, event.jobId, event.shards);
      break;
    case 'PlanEnded':
      planEnded(turn, event.jobId);
      break;
    case 'JobAbandoned':
      jobAbandoned(turn, event.jobId);
      break;
    case 'JobPaused':
      jobPaused(turn, event.jobId, event.isPaused);
      break;
    case 'OwnersLimited':
      turn.state.credits = event.credits;
      leaseToAll(turn);
      break;
    case 'CommitFinished':
      commitFinished(turn, event.jobId, event.shard);
      break;
    case 'CommitRejected':
      commitRejected(turn, event);
      break;
    case 'NodeJoined':
      nodeJoined(turn, event);
      break;
    case 'NodeCredited':
      nodeCredited(turn, event.session, event.creditBytes);
      break;
    case 'NodeBrought':
      nodeBrought(turn, event);
      break;
    case 'NodeReported':
      // Only its deadline changes.
      break;
    case 'ShardInPart':
      shardInPart(turn, event);
      break;
    case 'NodeDraining':
      nodeDraining(turn, event.session);
      break;
    case 'NeedShown':
      needShown(turn, event);
      break;
    case 'NeedLacked':
      needLacked(turn, event);
      break;
    case 'NodeLeft':
      nodeLeft(turn, event.session);
      break;
    case 'ShardCompleted':
      shardCompleted(turn, event);
      break;
    case 'ShardFailed':
      shardFailed(turn, event);
      break;
    case 'AnswerVetted':
      answerVetted(turn, event);
      break;
    case 'OutputVetted':
      outputVetted(turn, event);
      break;
    case 'ShardReturned':
      shardReturned(turn, event);
      break;
    case 'ShardLost':
      shardLost(turn, event);
      break;
    case 'Tick':
      ticked(turn);
      break;
  }
}
