import type { Hello } from '@halogrid/proto';
import type { AcceptedJob } from './job-run.ts';
import type { Failure, LeaseId } from './scheduler/events.ts';
import type { ShardAnswer } from './services/answer-message.ts';
import type { Shard } from './shard.ts';

/** A lease with all that a node needs to know. */
export interface LeaseOrder {
  lease: LeaseId;
  shard: Shard;
  job: AcceptedJob;
}

/** Orders to a node. */
export interface NodeConnection {
  lease(order: LeaseOrder): void;
  /** Every lease of the job is to be forgotten. */
  recall(jobId: string): void;
  /** Ends the conversation, for the reason given. */
  drop(reason: string): void;
}

/** What a node reports, after its hello. */
export type NodeReport =
  | { kind: 'NodeReported' }
  | { kind: 'NodeDraining' }
  | { kind: 'ShardCompleted'; lease: LeaseId; answer: ShardAnswer }
  | { kind: 'ShardFailed'; lease: LeaseId; failure: Failure };

export interface AttachedNodeView {
  hello: Hello;
  leases: number;
  leasedBytes: number;
  isDraining: boolean;
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
