import type { Hello, Load, PartFound, Probe, SearchPart, Sight } from '@halogrid/proto';
import type { AcceptedJob } from '../job/accepted-job.ts';
import type { Shard, ShardAnswer } from '../job/shard.ts';
import type { BroughtLease, Failure, LeaseId } from '../scheduler/events.ts';
import type { NodeTotals } from './node-totals.ts';

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
  /** The job is led here now: has the node say what it has of it from others, with leases of an earlier epoch. */
  bring(jobId: string, epoch: number): void;
  /** These of the leases of the job that it said go on; it forgets the others. */
  kept(jobId: string, kept: readonly BroughtLease[]): void;
  /** The leases of these shards of the job are to be forgotten; none: all of them. */
  recall(jobId: string, shards: number[]): void;
  /** Has the node say what it sees. */
  probe(probe: Probe): void;
  /** Has the node look through a part of an index. */
  search(part: SearchPart): void;
  /** What is leased from now on is within that credit. */
  creditTaken(bytes: number): void;
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
  /** It may hold that much from now on, of which it is told once that is so. */
  | { kind: 'NodeCredited'; creditBytes: number }
  /** What it has of a job that is led here now, and what it may hold with that. */
  | { kind: 'NodeBrought'; jobId: string; brought: readonly BroughtLease[]; creditBytes: number }
  /** What its workers were at. */
  | { kind: 'NodeLoaded'; load: Load }
  /** The answer to a search. */
  | { kind: 'NodeSearched'; found: PartFound }
  | { kind: 'ShardCompleted'; lease: LeaseId; answer: ShardAnswer }
  | { kind: 'ShardFailed'; lease: LeaseId; failure: Failure }
  | { kind: 'ShardReturned'; lease: LeaseId };

/** A conversation with a node. */
export interface NodeSession {
  hello: Hello;
  connection: NodeConnection;
  attachedMs: number;
  /** What came of it, and of the conversations before it. */
  totals: NodeTotals;
  load?: Load;
}
