import type { AcceptedJob } from '@halogrid/jobs/accepted-job';
import type { Shard, ShardAnswer } from '@halogrid/jobs/shard';
import type { Hello, Load, PartFound, Probe, SearchPart, Sight } from '@halogrid/proto';
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
  /** The first order. The leases in `kept`, which the node brought along, go on; it forgets its others. */
  welcome(kept: readonly BroughtLease[]): void;
  lease(order: LeaseOrder): void;
  /** The job is led here now: asks the node for its leases of an earlier epoch. */
  bring(jobId: string, epoch: number): void;
  /** Tells the node which of the leases that it reported for the job go on; it forgets the others. */
  kept(jobId: string, kept: readonly BroughtLease[]): void;
  /** Has the node forget its leases of these shards of the job. An empty list means all its leases of the job. */
  recall(jobId: string, shards: number[]): void;
  /** Asks the node what it can read. */
  probe(probe: Probe): void;
  /** Has the node search a part of an index. */
  search(part: SearchPart): void;
  /** From now on the node's leases stay within that credit. */
  creditTaken(bytes: number): void;
  /** Why no message of the node was heard although it was not silent; undefined if it was silent. */
  whyUnheard?(): string | undefined;
  /** Ends the conversation, for the given reason. `isFinal`: the node must not come back. */
  drop(reason: string, isFinal: boolean): void;
}

/** What a node reports, after its hello. */
export type NodeReport =
  | { kind: 'NodeReported' }
  | { kind: 'NodeDraining' }
  /** The answer to a probe. */
  | { kind: 'NodeLooked'; sight: Sight }
  /** The node offers that credit; `creditTaken` tells it when the credit applies. */
  | { kind: 'NodeCredited'; creditBytes: number }
  /** Its leases of a job that is led here now, and its credit, including these leases. */
  | { kind: 'NodeBrought'; jobId: string; brought: readonly BroughtLease[]; creditBytes: number }
  /** The load of its workers. */
  | { kind: 'NodeLoaded'; load: Load }
  /** The answer to a search. */
  | { kind: 'NodeSearched'; found: PartFound }
  /** The shard is computed, and its results wait in a part. */
  | { kind: 'ShardInPart'; lease: LeaseId }
  | { kind: 'ShardCompleted'; lease: LeaseId; answer: ShardAnswer }
  | { kind: 'ShardFailed'; lease: LeaseId; failure: Failure }
  | { kind: 'ShardReturned'; lease: LeaseId };

/** A conversation with a node. */
export interface NodeSession {
  hello: Hello;
  connection: NodeConnection;
  attachedMs: number;
  /** Totals of this and its earlier conversations. */
  totals: NodeTotals;
  load?: Load;
}
