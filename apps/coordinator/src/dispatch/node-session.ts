import type { Hello, Lack, Probe, Sight } from '@halogrid/proto';
import type { AcceptedJob } from '../job/accepted-job.ts';
import type { Shard, ShardAnswer } from '../job/shard.ts';
import type { BroughtLease, Failure, LeaseId } from '../scheduler/events.ts';
import type { NodeView } from '../scheduler/scheduler.ts';

/** A lease with all that a node needs to know. */
export interface LeaseOrder {
  lease: LeaseId;
  shard: Shard;
  job: AcceptedJob;
  /** Computed by the reference, for comparison. */
  verify: boolean;
}

/** Orders to a node. */
export interface NodeConnection {
  /** The first order. These of the leases that the node brought along go on; it forgets the others. */
  welcome(kept: readonly BroughtLease[]): void;
  lease(order: LeaseOrder): void;
  /** The leases of these shards of the job are to be forgotten; none: all of them. */
  recall(jobId: string, shards: number[]): void;
  /** Has the node say what it sees. */
  probe(probe: Probe): void;
  /** Why nothing was heard of a node, where that is not for its silence. */
  whyUnheard?(): string | undefined;
  /** Ends the conversation, for the reason given; `isFinal` when the node is not to come back. */
  drop(reason: string, isFinal: boolean): void;
}

/** What a node reports, after its hello. */
export type NodeReport =
  | { kind: 'NodeReported' }
  | { kind: 'NodeDraining' }
  /** The answer to a probe. */
  | { kind: 'NodeLooked'; sight: Sight }
  | { kind: 'ShardCompleted'; lease: LeaseId; answer: ShardAnswer }
  | { kind: 'ShardFailed'; lease: LeaseId; failure: Failure }
  | { kind: 'ShardReturned'; lease: LeaseId };

export interface AttachedNodeView {
  hello: Hello;
  leases: number;
  leasedBytes: number;
  isDraining: boolean;
  /** Since it attached. */
  shardsFailed: number;
  /** What it was asked for and cannot do; times are milliseconds since 1970. */
  lacks: Lack[];
  /** Until when it gets no shards as it fails too often, in milliseconds since 1970; 0 where it gets some. */
  asideUntilMs: number;
  shardsDone: number;
  pixelsDone: number;
  /** Milliseconds since 1970. */
  attachedMs: number;
}

/** A conversation with a node, and what came of it. */
export interface NodeSession {
  hello: Hello;
  connection: NodeConnection;
  attachedMs: number;
  shardsDone: number;
  pixelsDone: number;
}

/** One more shard of the node counts. */
export function countShard(node: NodeSession | undefined, pixels: number): void {
  if (!node) return;
  node.shardsDone++;
  node.pixelsDone += pixels;
}

/** The node as those see it who ask: `known` is what the scheduler has of it, and `offsetMs` leads from its clock to 1970. */
export function viewNode(
  { connection: _, ...node }: NodeSession,
  { asideUntilMs, lacks, failures: shardsFailed, ...known }: NodeView,
  nowMs: number,
  offsetMs: number,
): AttachedNodeView {
  return {
    ...{ ...node, ...known, shardsFailed },
    lacks: lacks.map((lack) => ({ ...lack, sinceMs: Math.round(lack.sinceMs + offsetMs) })),
    asideUntilMs: asideUntilMs > nowMs ? Math.round(asideUntilMs + offsetMs) : 0,
  };
}
