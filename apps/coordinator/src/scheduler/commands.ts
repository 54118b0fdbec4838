import type { Shard } from '../shard.ts';
import type { LeaseId } from './events.ts';

/** Why a shard is leased: for the first time, after a failure, or after its node went away. */
export type AttemptReason = 'first' | 'failed' | 'lost';

/** Why the work of a lease does not count. */
export type Setback =
  /** The node could not compute the shard, or its answer was wrong; the shard is leased again. */
  | 'failed'
  /** The node went away. */
  | 'lost'
  /** An answer for a shard that is done. */
  | 'duplicate'
  /** An answer to a lease that is not current, of a shard that is not done or not known. */
  | 'stale';

/** What the driver does for the scheduler. `session` is a node's conversation. */
export type Command<Answer> =
  /** Sends the lease to the node. `waitedMs` is the time the shard was queued. */
  | {
      kind: 'AssignShard';
      session: number;
      lease: LeaseId;
      shard: Shard;
      reason: AttemptReason;
      waitedMs: number;
    }
  /** Tells the node to forget every lease of the job. */
  | { kind: 'RecallShards'; session: number; jobId: string }
  /** Ends the conversation; the scheduler has already forgotten it. `lost` unless the node itself replaced it. */
  | { kind: 'DropNode'; session: number; lost: boolean; reason: string }
  /** Writes the result to the ledger and reports CommitFinished or CommitRejected. `leasedAtMs` is when it was leased. */
  | { kind: 'CommitShard'; session: number; lease: LeaseId; leasedAtMs: number; answer: Answer }
  /** Writes to the ledger that the shard is given up, and reports CommitFinished. */
  | { kind: 'QuarantineShard'; jobId: string; shard: Shard; attempts: number; error: string }
  /** Writes the output: every shard is committed or quarantined. Given once a job, and the last word about it. */
  | { kind: 'FinaliseJob'; jobId: string }
  /** Ends the job without results, and reports JobAbandoned: its output cannot be written. */
  | { kind: 'FailJob'; jobId: string; error: string }
  /** Counts and logs work that was done in vain. */
  | { kind: 'RecordSetback'; nodeId: string; lease: LeaseId; setback: Setback; error: string };
