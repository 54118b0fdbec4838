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

/** How a node ended: 0 as asked, 1 because it could not go on; `reason` is one sentence. */
export interface Exit {
  code: 0 | 1;
  reason: string;
}

/** What the node is to a coordinator. */
export type Phase =
  /** There is no connection; the next is tried at `dialAtMs`. Shards of the last one go on. */
  | { kind: 'waiting'; dialAtMs: number }
  /** Hello was said, which named those shards, and the coordinator has until `untilMs` to welcome the node. */
  | { kind: 'greeting'; untilMs: number }
  /** The coordinator leases shards to the node, each keeping the other informed that it is there. */
  | { kind: 'attached'; reportWithinMs: number; heardMs: number; reportedMs: number }
  /** Everything is said, and the coordinator has until `untilMs` to take note. */
  | { kind: 'leaving'; untilMs: number }
  /** The node is done. */
  | { kind: 'ended' };

/** Whether the node will take further shards. */
export type Draining =
  | 'no'
  /** It was asked to stop, and has told the coordinator. */
  | 'announced'
  /** The coordinator has spoken since: a lease that crossed the announcement has arrived. */
  | 'heard';

export interface Conversation {
  readonly phase: Phase;
  readonly draining: Draining;
  /** When a draining node hands back what it still holds. */
  readonly handBackMs: number;
  /** Why it ends once drained. */
  readonly drainReason: string;
  /** Shards that are not answered, by a number that is never used again. */
  readonly leases: ReadonlyMap<number, UnansweredShard>;
  /** When a node without a connection gives up its shards. */
  readonly keepUntilMs: number;
  readonly nextLeaseId: number;
  /** Bytes that the coordinator may lease to the node, as it was told or will be by the next hello. */
  readonly creditBytes: number;
  /** Attempts to reach a coordinator since the last welcome. */
  readonly attempts: number;
  /** A shard was computed in it, which a coordinator that was restarted hears of. */
  readonly hasComputed: boolean;
}

/** What became of a shard. */
export type Answer =
  | { kind: 'shardCompleted'; report: FoundAnswer }
  /**
   * `isOutput`: its results could not be written. `isDevice`: the device was lost over it. `need`: what the node lacks
   * for it.
   */
  | { kind: 'shardFailed'; error: string; isOutput: boolean; isDevice?: boolean; need?: string };

/** A shard that the coordinator was not answered yet. */
export interface UnansweredShard {
  readonly lease: Lease;
  /** What became of it while there was no connection, or no word of whether it goes on. */
  readonly answer: Answer | undefined;
  /** It is computed and waits in a part, where it holds none of the node's credit. */
  readonly isInPart?: boolean;
  /** It is of another coordinator, and this one has not said yet whether it goes on. */
  readonly isBrought?: boolean;
}

/** What happened; `jitter` is a random number in [0, 1). */
export type ConversationEvent =
  | { kind: 'ordered'; order: AttachResponse }
  /** The connection ended; `isRefusal` when the coordinator will not have this node, now or later. */
  | { kind: 'disconnected'; reason: string; isRefusal: boolean; jitter: number }
  | { kind: 'shardInPart'; leaseId: number }
  | (Answer & { leaseId: number })
  /** Shards of another coordinator, which is gone; only told before this one is dialled. */
  | { kind: 'brought'; leases: ReadonlyMap<number, UnansweredShard>; keepUntilMs: number }
  /** Shards of a job that this coordinator has taken over from another, and what it may lease with them. */
  | { kind: 'gathered'; jobId: string; leases: ReadonlyMap<number, UnansweredShard>; creditBytes: number }
  /** These of its shards are brought to another coordinator. */
  | { kind: 'handedOver'; leaseIds: Iterable<number> }
  /** No other coordinator leases shards to the node any more: this one is dialled soon. */
  | { kind: 'needed'; jitter: number }
  /** The coordinator may lease that much from now on. */
  | { kind: 'credited'; bytes: number }
  /** The answer to a probe of the connection that there is now. */
  | { kind: 'looked'; sight: Sight }
  /** The same of a part of an index. */
  | { kind: 'searched'; found: PartFound }
  /** What the node's workers were at, for people. */
  | { kind: 'loaded'; load: Load }
  | { kind: 'stopRequested'; reason: string }
  /** There is no device any more, for this reason. */
  | { kind: 'deviceGone'; reason: string }
  | { kind: 'timePassed'; jitter: number };

/** What to do about it, in order. */
export type ConversationCommand =
  | { kind: 'dial'; address: string }
  | { kind: 'send'; report: OutgoingReport }
  /** Says that no report follows. */
  | { kind: 'closeStream' }
  /** Ends the connection without another word. */
  | { kind: 'hangUp'; reason: string }
  | { kind: 'startShard'; leaseId: number; lease: Lease }
  | { kind: 'forgetShard'; leaseId: number }
  /** The coordinator leases no more than that from now on. */
  | { kind: 'creditTaken'; bytes: number }
  /** What other coordinators leased of the job, with an epoch before this one, is to be gathered. */
  | { kind: 'gather'; jobId: string; epoch: number }
  | { kind: 'look'; probe: Probe }
  | { kind: 'search'; part: SearchPart }
  | { kind: 'end'; exit: Exit };

export interface ConversationOptions {
  /** HOST:PORT of the coordinator. */
  address: string;
  hello: Hello;
}

/** The state of a node that has not dialled yet. The numbers of its leases begin with `firstLeaseId`. */
export function startConversation(nowMs: number, creditBytes: number, firstLeaseId = 1): Conversation {
  const phase: Phase = { kind: 'waiting', dialAtMs: nowMs };
  return {
    phase,
    draining: 'no',
    handBackMs: Number.POSITIVE_INFINITY,
    drainReason: '',
    leases: new Map(),
    keepUntilMs: Number.POSITIVE_INFINITY,
    nextLeaseId: firstLeaseId,
    creditBytes,
    attempts: 0,
    hasComputed: false,
  };
}

/** Decoded bytes that its shards hold of the node's credit. */
export const heldBytes = ({ leases }: Conversation): number => decodedBytesOf(leases);

/** Decoded bytes that these shards hold of the node's credit. */
export function decodedBytesOf(leases: ReadonlyMap<number, UnansweredShard>): number {
  let bytes = 0;
  for (const { lease, isInPart } of leases.values()) if (!isInPart) bytes += lease.costBytes;
  return bytes;
}
