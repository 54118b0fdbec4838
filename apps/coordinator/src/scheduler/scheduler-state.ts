import type { Shard } from '../shard.ts';
import type { AttemptReason, Command } from './commands.ts';
import { ShardQueue } from './shard-queue.ts';

/** Where a shard that is not done is. */
export type EntryState =
  /** It waits for a node. */
  | { kind: 'queued'; sinceMs: number; reason: AttemptReason }
  /** A node holds it. */
  | { kind: 'leased'; node: AttachedNode; attempt: number; sinceMs: number }
  /** What became of its last lease, on the node of that id, is being written to the ledger. */
  | { kind: 'settling'; nodeId: string };

/** A shard that is not done. */
export interface ShardEntry {
  readonly job: ScheduledJob;
  readonly shard: Shard;
  state: EntryState;
  /** Leases given. */
  attempts: number;
  /** Node ids, one for each failure. */
  failedOn: string[];
  /** Node ids, one for each time its node was lost while it held the shard. */
  lostOn: string[];
}

/** A job that is planned or computed. It is forgotten once it is finalised or abandoned. */
export interface ScheduledJob {
  readonly jobId: string;
  /** Shards that are not done, by number. */
  readonly open: Map<number, ShardEntry>;
  /** Shards that were never leased, in the order of the plan. */
  readonly fresh: ShardQueue<ShardEntry>;
  /** Shards that were leased in vain: they go first, because the job cannot end without them. */
  readonly retries: ShardQueue<ShardEntry>;
  /** Shards that are settling. */
  settling: number;
  /** Shards planned so far. */
  planned: number;
  planEnded: boolean;
}

/** A node in conversation with us. */
export interface AttachedNode {
  readonly session: number;
  readonly nodeId: string;
  readonly creditBytes: number;
  readonly leases: Set<ShardEntry>;
  /** Cost of its leases. */
  leasedBytes: number;
  isDraining: boolean;
  /** It is lost when it has said nothing until then. */
  deadlineMs: number;
}

export interface SchedulerOptions {
  /** The fencing number that leases carry. */
  epoch: number;
  /** A node is lost when it is silent for longer after an order. */
  reportWithinMs: number;
  /** Time between ticks. */
  tickMs: number;
}

export interface SchedulerState extends SchedulerOptions {
  readonly jobs: Map<string, ScheduledJob>;
  /** The same jobs in the order of their turns; `turn` is the index of the next. */
  rotation: ScheduledJob[];
  turn: number;
  /** By session. */
  readonly nodes: Map<number, AttachedNode>;
  readonly nodesById: Map<string, AttachedNode>;
  lastTickMs: number | undefined;
}

/** One call of the scheduler: what it changes, when, and the commands that come of it. */
export interface Turn<Answer> {
  readonly state: SchedulerState;
  readonly now: number;
  readonly commands: Command<Answer>[];
}

export function createState(options: SchedulerOptions): SchedulerState {
  return {
    ...options,
    jobs: new Map(),
    rotation: [],
    turn: 0,
    nodes: new Map(),
    nodesById: new Map(),
    lastTickMs: undefined,
  };
}

export function createJob(jobId: string): ScheduledJob {
  return {
    jobId,
    open: new Map(),
    fresh: new ShardQueue(),
    retries: new ShardQueue(),
    settling: 0,
    planned: 0,
    planEnded: false,
  };
}

/** Shards of the job that wait for a node. */
export function queuedShards(job: ScheduledJob): number {
  return job.fresh.size + job.retries.size;
}
