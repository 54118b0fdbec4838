import type { OutputLack } from '@halogrid/jobs/output-lack';
import type { OpenShard, Shard } from '@halogrid/jobs/shard';

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
  /** It is computed, and its results wait in a part. */
  inPart: boolean;
}

/** Why a lease gave no result; `error` is one sentence. */
export interface Failure {
  error: string;
  /** The shard's results could not be written. */
  isOutput: boolean;
  /** The device was lost or had no memory: the first time the shard is not blamed for it. */
  isDevice?: boolean;
  /** A need of the shard that the node turned out not to meet. */
  need?: string;
}

/**
 * An answer of a node. Answers with the same digest have the same results. The digest is computed only if answers are
 * compared.
 */
export interface Comparable {
  readonly digest: string;
  /** About how many bytes of memory it takes until it is written. */
  readonly bytes: number;
  /** The share of the shard's sources that have a result, in [0, 1]; absent: all. */
  readonly goodShare?: number;
  /** Whether it reports sources that could not be read, for which the node may be at fault. */
  readonly isDoubtful?: boolean;
}

/** An answer that may become the shard's result, or has. */
export interface Candidate {
  readonly nodeId: string;
  readonly session: number;
  readonly lease: LeaseId;
  readonly leasedAtMs: number;
  /** The reference computed it: only its digest is used. */
  readonly verify: boolean;
  readonly answer: Comparable;
}

/** The outcome of vetting a doubtful answer. */
export type Verdict =
  /** Confirmed: the coordinator cannot read those sources either, or finds other versions than were listed. */
  | { kind: 'upheld' }
  /** The coordinator can read one of them: the node lacks `need`, for that reason. */
  | { kind: 'refuted'; need: string | undefined; reason: string }
  /** The host or bucket of `need` is away, for that reason: neither the sources nor the node are at fault. */
  | { kind: 'away'; need: string; reason: string }
  /** The coordinator cannot tell: other nodes decide. */
  | { kind: 'untold'; reason: string }
  /** The sources may soon be readable: the shard is leased again later. */
  | { kind: 'later'; reason: string };

/** The options of a job for the scheduler. */
export interface JobOrder {
  jobId: string;
  /** The fencing number that its leases carry; the scheduler's by default. */
  epoch?: number;
  /** Who submitted it; empty: nobody was asked. Owners share the nodes. */
  owner?: string;
  /** Among an owner's jobs, a higher priority goes first, and equal priorities share. */
  priority?: number;
  /** Percent of the shards that are computed a second time, by the reference, before they are committed. */
  verifyPercent?: number;
  /** It waits for a node that meets its needs, instead of failing after a while. */
  waitsForNode?: boolean;
  /** Its shards are not leased. */
  isPaused?: boolean;
}

/** How many bytes the leases of an owner may hold together, by owner; `others`: for owners who are not named. */
export interface OwnerCredits {
  named: ReadonlyMap<string, number>;
  others: number;
}

/**
 * Everything that happens to the scheduler. `session` numbers the conversations with nodes and is never used again: a
 * node that attaches again keeps its `nodeId` and gets another session. `Answer` is carried to the commit unread,
 * except for its digest.
 */
export type SchedulerEvent<Answer> =
  | ({ kind: 'JobSubmitted' } & JobOrder)
  /**
   * A job that an earlier coordinator began. Its shards below number `planned` are planned, `kept` of them not for
   * nodes. `open`: the shards that are not done, in the order of the plan, with the number of their last attempt (0:
   * none).
   */
  | ({
      kind: 'JobResumed';
      planned: number;
      kept: number;
      open: OpenShard[];
      /** How long nodes have to bring along their leases of the job; `reportWithinMs` by default. */
      bringMs?: number | undefined;
    } & JobOrder)
  /** The next shards of a job, numbered on from those before. */
  | { kind: 'ShardsPlanned'; jobId: string; shards: Shard[] }
  /** No more shards follow. */
  | { kind: 'PlanEnded'; jobId: string }
  /** The job was cancelled or failed: its results are not needed any more. */
  | { kind: 'JobAbandoned'; jobId: string }
  /** From now on no shard of the job is leased, or they are leased again. Its present leases stay as they are. */
  | { kind: 'JobPaused'; jobId: string; isPaused: boolean }
  /** The limits of owners from now on; there are none before. */
  | { kind: 'OwnersLimited'; credits: OwnerCredits }
  | {
      kind: 'NodeJoined';
      session: number;
      nodeId: string;
      /** For people; its id by default. */
      name?: string;
      creditBytes: number;
      /** How many shards it decodes at the same time, if it says so. */
      decoders?: number;
      /** It has computed something for a coordinator before this one. */
      hasComputed?: boolean;
      brought?: readonly BroughtLease[];
      /** Needs that it says it lacks. */
      lacks?: readonly { need: string; reason: string }[];
    }
  /** The node has shown that it meets a need. */
  | { kind: 'NeedShown'; session: number; need: string }
  /** The node has shown that it does not meet a need. `own`: why the coordinator cannot write results there either. */
  | { kind: 'NeedLacked'; session: number; need: string; reason: string; own?: OutputLack }
  /** A message came from the node; every message extends its deadline. */
  | { kind: 'NodeReported'; session: number }
  /** The node's credit from now on. */
  | { kind: 'NodeCredited'; session: number; creditBytes: number }
  /** The node brings along its leases of a job that is led here now, and has that credit, including these leases. */
  | { kind: 'NodeBrought'; session: number; brought: readonly BroughtLease[]; creditBytes: number }
  /** The node takes no further shards and finishes what it holds. */
  | { kind: 'NodeDraining'; session: number }
  /** The conversation is over: the node left after draining; otherwise its connection or its process died. */
  | { kind: 'NodeLeft'; session: number }
  /** The node has computed the shard, whose results wait in a part for other shards. */
  | { kind: 'ShardInPart'; session: number; lease: LeaseId }
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
   * The results of a done shard are lost, and the shard is done again, as the next attempt. `planned` shards of the job
   * are planned, `kept` of them not for nodes. `nodeIds`: nodes that may be at fault. `isFalse`: the part differs
   * from the answer, so that a single node in `nodeIds` was wrong. `inVain`: all nodes whose results for the shard were
   * lost; they get it only if no other node can do it.
   */
  | ({
      kind: 'ShardLost';
      open: OpenShard;
      planned: number;
      kept: number;
      nodeIds: readonly string[];
      isFalse: boolean;
      inVain: readonly string[];
      error: string;
    } & JobOrder)
  /** Time passed; sent every `tickMs`. */
  | { kind: 'Tick' };
