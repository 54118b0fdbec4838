import type { KeptShard, Shard } from '@halogrid/jobs/shard';
import type { Candidate, Failure, LeaseId } from './events.ts';

/**
 * Why a shard is leased: for the first time, after a failure, after its node went away or handed it back, to be
 * verified, or because its node takes too long.
 */
export type AttemptReason = 'first' | 'failed' | 'lost' | 'check' | 'straggler';

/** Why the work of a lease does not count. */
export type Setback =
  /** The node could not compute the shard, or its answer was wrong; the shard is leased again. */
  | 'failed'
  /** The node went away. */
  | 'lost'
  /** An answer for a shard that is done. */
  | 'duplicate'
  /** An answer to a lease that is not current, for a shard that is open or unknown. */
  | 'stale';

/** What the driver does for the scheduler. `session` is a node's conversation. */
export type Command<Answer> =
  /**
   * Sends the lease to the node. `waitedMs` is the time the shard was queued. `verify`: the node computes it with the
   * reference instead of its device.
   */
  | {
      kind: 'AssignShard';
      session: number;
      lease: LeaseId;
      shard: Shard;
      reason: AttemptReason;
      verify: boolean;
      waitedMs: number;
    }
  /**
   * Tells the joining node that this lease, which it brought along, goes on under this id. Sent before all other
   * orders.
   */
  | { kind: 'AdoptShard'; session: number; lease: LeaseId; verify: boolean; inPart: boolean }
  /** Probes whether the node meets the need, and reports NeedShown or NeedLacked. */
  | { kind: 'ProbeNode'; session: number; need: string }
  /**
   * Finds out whether the inputs that the node could not read are readable, and reports AnswerVetted with the
   * candidate. `delays`: how often an answer to the shard was put off.
   */
  | { kind: 'VetAnswer'; shard: Shard; candidate: Candidate; delays: number }
  /** Finds out whether results of the job can be written, and reports OutputVetted with the failure. */
  | { kind: 'VetOutput'; session: number; lease: LeaseId; shard: Shard; failure: Failure }
  /** Tells the node to forget its leases of these shards of the job. An empty list means all its leases of the job. */
  | { kind: 'RecallShards'; session: number; jobId: string; shards: number[] }
  /**
   * Ends the conversation; the scheduler has already forgotten it. `lost` is false if the node replaced it by a newer
   * conversation. `isFinal`: the node may not come back until it restarts under another id.
   */
  | { kind: 'DropNode'; session: number; lost: boolean; isFinal: boolean; reason: string }
  /**
   * Writes the result to the ledger and reports CommitFinished or CommitRejected. `leasedAtMs` is when the shard was
   * leased.
   */
  | { kind: 'CommitShard'; session: number; lease: LeaseId; leasedAtMs: number; answer: Answer }
  /** Writes to the ledger that the shard is given up, and reports CommitFinished. */
  | { kind: 'QuarantineShard'; jobId: string; shard: Shard; attempts: number; error: string }
  /**
   * Writes to the ledger that the shard, a tile of an image that is set aside already, is done, and reports
   * CommitFinished.
   */
  | { kind: 'SkipShard'; jobId: string; shard: number }
  /**
   * Has the coordinator read and check the earlier results of the shard, writes them to the ledger, and reports
   * CommitFinished.
   */
  | { kind: 'KeepShard'; jobId: string; shard: KeptShard }
  /**
   * Writes the output: every shard is committed or quarantined. The last command about a job, unless a shard is lost.
   */
  | { kind: 'FinaliseJob'; jobId: string }
  /**
   * Ends the job without results, and reports JobAbandoned: its output cannot be written, or cannot be trusted.
   * `isWant`: something outside the job is missing, as in WantError.
   */
  | { kind: 'FailJob'; jobId: string; error: string; isWant?: true }
  /** Counts and logs that two answers for a shard differ. */
  | { kind: 'RecordMismatch'; jobId: string; shard: number; nodeIds: string[] }
  /** Counts and logs that the node answered wrongly: two others agreed against it. */
  | { kind: 'RecordWrongAnswer'; nodeId: string; lease: LeaseId }
  /** Counts and logs that a node which fails too often gets no shards for a while. */
  | { kind: 'RecordSetAside'; nodeId: string; forMs: number; failures: number; of: number }
  /**
   * Counts and logs that the node lacks `need` and gets no shards with it; without `reason`, that it gets them again.
   */
  | { kind: 'RecordLack'; session: number; nodeId: string; need: string; reason: string | undefined }
  /** Counts and logs wasted work. */
  | { kind: 'RecordSetback'; nodeId: string; lease: LeaseId; setback: Setback; error: string };
