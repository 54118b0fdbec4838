import type { OutputLack } from '@halogrid/jobs/output-lack';
import type { Shard } from '@halogrid/jobs/shard';

/** Names one lease: an answer counts only while the lease it names is current. */
export interface LeaseId {
  jobId: string;
  shard: number;
  attempt: number;
  epoch: number;
}

/** A lease that a node brings along from an earlier conversation, perhaps with an earlier coordinator. */
export interface BroughtLease extends LeaseId {
  /** The node computes it with the reference. */
  verify: boolean;
}

/** Why a shard has no result, in one sentence. */
export interface Failure {
  error: string;
  /** Its results could not be written. */
  isOutput: boolean;
  /** The device was lost or had no memory: the first time the shard is not blamed for it. */
  isDevice?: boolean;
  /** What the shard needs and its node turned out to lack. */
  need?: string;
}

/** An answer of a node. Answers with the same digest say the same; it is asked for only where answers are compared. */
export interface Comparable {
  readonly digest: string;
  /** Memory that it takes until it is written, about. */
  readonly bytes: number;
  /** Sources of the shard that have a result, as a part of all, in [0, 1]; absent: all. */
  readonly goodShare?: number;
  /** Whether it says of sources that they could not be had. Perhaps it is the node. */
  readonly isDoubtful?: boolean;
}

/** An answer that may become the shard's result, or has. */
export interface Candidate {
  readonly nodeId: string;
  readonly session: number;
  readonly lease: LeaseId;
  readonly leasedAtMs: number;
  /** It is the reference's, of which nothing but the digest is used. */
  readonly verify: boolean;
  readonly answer: Comparable;
}

/** What was found out about an answer that is doubtful. */
export type Verdict =
  /** It is so: the coordinator cannot have those sources either, or has others than were listed. */
  | { kind: 'upheld' }
  /** The coordinator can have one of them: the node lacks `need`, for that reason. */
  | { kind: 'refuted'; need: string | undefined; reason: string }
  /** The host or bucket of `need` is away, for that reason: neither the sources nor the node are at fault. */
  | { kind: 'away'; need: string; reason: string }
  /** The coordinator cannot tell: the other nodes will. */
  | { kind: 'untold'; reason: string }
  /** It may be otherwise soon. */
  | { kind: 'later'; reason: string };

/** What a job asks of the scheduler besides its shards. */
export interface JobOrder {
  jobId: string;
  /** The fencing number that its leases carry; the scheduler's unless given. */
  epoch?: number;
  /** Jobs of a higher one go first; those of the same share the nodes. */
  priority?: number;
  /** Percent of the shards that are computed a second time, by the reference, before they are committed. */
  verifyPercent?: number;
  /** It waits where no attached node can do what it needs, instead of failing after a while. */
  waitsForNode?: boolean;
}

/**
 * Everything that happens to the scheduler. `session` numbers the conversations with nodes and is never used again: a
 * node that attaches anew keeps its `nodeId` and gets another session. `Answer` is carried to the commit unread, except
 * for its digest.
 */
export type SchedulerEvent<Answer> =
  | ({ kind: 'JobSubmitted' } & JobOrder)
  /**
   * A job that an earlier coordinator began, whose shards below number `planned` are planned, `kept` of them of kept
   * sources; `open` are those that are not done, in the order of the plan, with the number of their last attempt.
   */
  | ({
      kind: 'JobResumed';
      planned: number;
      kept: number;
      open: { shard: Shard; attempts: number }[];
      /** How long nodes have to bring along what they hold of it; `reportWithinMs` unless given. */
      bringMs?: number | undefined;
    } & JobOrder)
  /** The next shards of a job, numbered on from those before. */
  | { kind: 'ShardsPlanned'; jobId: string; shards: Shard[] }
  /** No more shards follow. */
  | { kind: 'PlanEnded'; jobId: string }
  /** The job was cancelled or failed: nothing of it is wanted any more. */
  | { kind: 'JobAbandoned'; jobId: string }
  | {
      kind: 'NodeJoined';
      session: number;
      nodeId: string;
      /** For people; its id unless given. */
      name?: string;
      creditBytes: number;
      /** Shards that it decodes at the same time, where it says so. */
      decoders?: number;
      /** It has computed something for a coordinator before this one. */
      hasComputed?: boolean;
      brought?: readonly BroughtLease[];
      /** What it says that it cannot do. */
      lacks?: readonly { need: string; reason: string }[];
    }
  /** The node has shown that it can do what shards need. */
  | { kind: 'NeedShown'; session: number; need: string }
  /** The node has shown that it cannot. `own`: why the coordinator cannot write results there either. */
  | { kind: 'NeedLacked'; session: number; need: string; reason: string; own?: OutputLack }
  /** The node said something; every word of it puts off its deadline. */
  | { kind: 'NodeReported'; session: number }
  /** The node may hold that much from now on. */
  | { kind: 'NodeCredited'; session: number; creditBytes: number }
  /** The node brings along what it has of a job that is led here now, and may hold that much with it. */
  | { kind: 'NodeBrought'; session: number; brought: readonly BroughtLease[]; creditBytes: number }
  /** The node takes no further shards and finishes what it holds. */
  | { kind: 'NodeDraining'; session: number }
  /** The conversation is over: the node left after draining; otherwise its connection or its process died. */
  | { kind: 'NodeLeft'; session: number }
  | { kind: 'ShardCompleted'; session: number; lease: LeaseId; answer: Answer }
  /** The answer to VetAnswer. */
  | { kind: 'AnswerVetted'; candidate: Candidate; verdict: Verdict }
  /** The answer to VetOutput: `need` is what the node lacks. `own`: why the coordinator cannot write there either. */
  | { kind: 'OutputVetted'; session: number; lease: LeaseId; failure: Failure; need: string; own?: OutputLack }
  /** The shard could not be computed for a reason outside its sources. */
  | { kind: 'ShardFailed'; session: number; lease: LeaseId; failure: Failure }
  /** The node will not compute the shard, because it stops: as if it had never been leased. */
  | { kind: 'ShardReturned'; session: number; lease: LeaseId }
  /** The ledger has the shard's result or its quarantine. */
  | { kind: 'CommitFinished'; jobId: string; shard: number }
  /** The ledger refused the answer, because it cannot be right. */
  | { kind: 'CommitRejected'; lease: LeaseId; error: string }
  /**
   * What was found of a shard that is done is lost: it is to be done again, with the next attempt. `planned` shards of
   * the job are planned, `kept` of them of kept sources. `nodeIds`: those that it may be the fault of; `isFalse`: the
   * one, if it is one, had answered something else than it wrote. `inVain`: all that had done it in vain, which get it
   * only where no other can have it.
   */
  | ({
      kind: 'ShardLost';
      open: { shard: Shard; attempts: number };
      planned: number;
      kept: number;
      nodeIds: readonly string[];
      isFalse: boolean;
      inVain: readonly string[];
      error: string;
    } & JobOrder)
  /** Time passed; sent every `tickMs`. */
  | { kind: 'Tick' };
