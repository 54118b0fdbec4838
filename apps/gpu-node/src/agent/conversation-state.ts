import type {
  AttachResponse,
  FoundAnswer,
  Hello,
  Lease,
  Load,
  PartFound,
  Probe,
  SearchPart,
  Sight,
} from '@halogrid/proto';
import type { OutgoingReport } from './outgoing.ts';

/** How a node ended: 0 as asked, 1 if it could not go on; `reason` is one sentence. */
export interface Exit {
  code: 0 | 1;
  reason: string;
}

/** How the node and a coordinator stand to each other. */
export type Phase =
  /** No connection. The node dials at `dialAtMs`. Shards of the last connection go on. */
  | { kind: 'waiting'; dialAtMs: number }
  /** The node has said hello and named those shards. The coordinator has until `untilMs` to welcome the node. */
  | { kind: 'greeting'; untilMs: number }
  /** The coordinator leases shards. Each side regularly tells the other that it is alive, both in that protocol. */
  | { kind: 'attached'; reportWithinMs: number; heardMs: number; reportedMs: number; protocol: number }
  /** The node has said everything. The coordinator has until `untilMs` to close the stream or to say something. */
  | { kind: 'leaving'; untilMs: number }
  /** The node is done. */
  | { kind: 'ended' };

/** Whether the node is about to leave, and takes no further shards. */
export type Draining =
  | 'no'
  /** The node was asked to stop while it held shards without a connection. It dials once more, to say so. */
  | 'asked'
  /** The node was asked to stop, and has told the coordinator. */
  | 'announced'
  /** The coordinator has acknowledged that, so no more leases are on their way. */
  | 'heard';

export interface Conversation {
  readonly phase: Phase;
  readonly draining: Draining;
  /** When a draining node hands back the shards that it still holds. */
  readonly handBackMs: number;
  /** Why the node ends once drained. */
  readonly drainReason: string;
  /** Unanswered shards, by lease numbers that are never used again. */
  readonly leases: ReadonlyMap<number, UnansweredShard>;
  /** Answers that the coordinator may not have recorded yet. A lost connection makes their shards unanswered again. */
  readonly sent: SentAnswers;
  /** When a node without a connection gives up its shards. */
  readonly keepUntilMs: number;
  readonly nextLeaseId: number;
  /** Decoded bytes that the coordinator may lease, as it was told or as the next hello will tell it. */
  readonly creditBytes: number;
  /** Attempts to reach a coordinator since the last welcome. */
  readonly attempts: number;
  /** Whether the node has computed a shard in this conversation; a restarted coordinator is told. */
  readonly hasComputed: boolean;
}

/** The outcome of a shard. */
export type Answer =
  | { kind: 'shardCompleted'; report: FoundAnswer }
  /**
   * `isOutput`: the results could not be written. `isDevice`: the device was lost while it computed the shard. `need`:
   * what the node lacks for the shard.
   */
  | { kind: 'shardFailed'; error: string; isOutput: boolean; isDevice?: boolean; need?: string };

/** A shard whose outcome the coordinator has not been sent, or may have lost. */
export interface UnansweredShard {
  readonly lease: Lease;
  /** The outcome, if it came without a connection or before the coordinator said whether the shard goes on. */
  readonly answer: Answer | undefined;
  /** The shard is computed and waits in a part. It uses none of the node's credit. */
  readonly isInPart?: boolean;
  /** The answer was sent over a connection that is lost. The next coordinator says whether it wants it again. */
  readonly wasSent?: boolean;
  /** The shard is from another coordinator, and this one has not said yet whether it goes on. */
  readonly isBrought?: boolean;
}

/** Shards whose answers were sent over the present connection, and when; the latest last. */
export type SentAnswers = readonly {
  readonly leaseId: number;
  readonly shard: UnansweredShard;
  readonly sentMs: number;
}[];

/** What happened; `jitter` is a random number in [0, 1). */
export type ConversationEvent =
  | { kind: 'ordered'; order: AttachResponse }
  /** The connection ended. `isRefusal`: the coordinator will never accept this node. */
  | { kind: 'disconnected'; reason: string; isRefusal: boolean; jitter: number }
  | { kind: 'shardInPart'; leaseId: number }
  | (Answer & { leaseId: number })
  /** Shards of another coordinator, which is gone. Only sent before this coordinator is dialled. */
  | { kind: 'brought'; leases: ReadonlyMap<number, UnansweredShard>; keepUntilMs: number }
  /** Shards of a job that this coordinator took over from another, and its credit including them. */
  | { kind: 'gathered'; jobId: string; leases: ReadonlyMap<number, UnansweredShard>; creditBytes: number }
  /** These shards now belong to another coordinator. */
  | { kind: 'handedOver'; leaseIds: Iterable<number> }
  /** No other coordinator is attached any more: dial this one soon. */
  | { kind: 'needed'; jitter: number }
  /** The credit of the coordinator is `bytes` from now on. */
  | { kind: 'credited'; bytes: number }
  /** The answer to a probe that came over the present connection. */
  | { kind: 'looked'; sight: Sight }
  /** The answer to a search of a part of an index, likewise. */
  | { kind: 'searched'; found: PartFound }
  /** How busy the node's workers were, for display. */
  | { kind: 'loaded'; load: Load }
  | { kind: 'stopRequested'; reason: string }
  /** The device is lost for good, for this reason. */
  | { kind: 'deviceGone'; reason: string }
  | { kind: 'timePassed'; jitter: number };

/** What the agent has to do, in order. */
export type ConversationCommand =
  | { kind: 'dial'; address: string }
  | { kind: 'send'; report: OutgoingReport }
  /** Tells the coordinator that no report follows. */
  | { kind: 'closeStream' }
  /** Drops the connection at once. */
  | { kind: 'hangUp'; reason: string }
  | { kind: 'startShard'; leaseId: number; lease: Lease }
  | { kind: 'forgetShard'; leaseId: number }
  /** The coordinator has taken note: it leases at most `bytes` from now on. */
  | { kind: 'creditTaken'; bytes: number }
  /** Gather the shards of the job that other coordinators leased with an earlier epoch. */
  | { kind: 'gather'; jobId: string; epoch: number }
  | { kind: 'look'; probe: Probe }
  | { kind: 'search'; part: SearchPart }
  | { kind: 'end'; exit: Exit };

export interface ConversationOptions {
  /** HOST:PORT of the coordinator. */
  address: string;
  hello: Hello;
  /** A draining node computes for this long. */
  drainTimeoutMs: number;
}

/** The state of a node that has not dialled yet. Its lease numbers begin with `firstLeaseId`. */
export function startConversation(nowMs: number, creditBytes: number, firstLeaseId = 1): Conversation {
  const phase: Phase = { kind: 'waiting', dialAtMs: nowMs };
  return {
    phase,
    draining: 'no',
    handBackMs: Number.POSITIVE_INFINITY,
    drainReason: '',
    leases: new Map(),
    sent: [],
    keepUntilMs: Number.POSITIVE_INFINITY,
    nextLeaseId: firstLeaseId,
    creditBytes,
    attempts: 0,
    hasComputed: false,
  };
}

/** Decoded bytes of the node's credit that the shards use. */
export const heldBytes = ({ leases }: Conversation): number => decodedBytesOf(leases);

/** Decoded bytes of a node's credit that shards use: shards in parts use none. */
export const decodedBytesOf = (leases: ReadonlyMap<number, UnansweredShard>): number =>
  costOf(leases.values().filter(({ isInPart }) => !isInPart));

/** Decoded bytes of shards, also of shards in parts. */
export function costOf(shards: Iterable<UnansweredShard>): number {
  let bytes = 0;
  for (const { lease } of shards) bytes += lease.costBytes;
  return bytes;
}
