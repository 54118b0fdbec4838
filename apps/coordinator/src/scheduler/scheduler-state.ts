import type { OutputLack } from '@halogrid/jobs/output-lack';
import type { Shard } from '@halogrid/jobs/shard';
import type { AttemptReason, Command } from './commands.ts';
import { Durations } from './durations.ts';
import type { Candidate, JobOrder } from './events.ts';
import type { NodeHealth } from './node-health.ts';
import type { NodeRate } from './node-rate.ts';
import { QueuesByNeeds } from './queues-by-needs.ts';

/** Where a shard that is not done is. */
export type EntryState =
  /** It waits for a node, and until that moment. */
  | { kind: 'queued'; sinceMs: number; notBeforeMs: number; reason: AttemptReason }
  /** Nodes hold it: one, or two where the first takes too long. */
  | { kind: 'leased' }
  /**
   * What became of its last lease, on the node of that id, is being written to the ledger; empty: no node has part in
   * it.
   */
  | { kind: 'settling'; nodeId: string; answerBytes: number };

/** One attempt of a shard that is under way. */
export interface Attempt {
  readonly entry: ShardEntry;
  readonly node: AttachedNode;
  /** Counted from 1, for the shard. */
  readonly number: number;
  readonly sinceMs: number;
  /** It is computed by the reference, to verify what a device found. */
  readonly verify: boolean;
  /** The node brought it along: how long it has worked on it is not known. */
  readonly isAdopted: boolean;
}

/** A shard that is not done, or whose result is contested. */
export interface ShardEntry {
  readonly job: ScheduledJob;
  readonly shard: Shard;
  /** Neighbours in the plan that read the same file or folder share it. */
  readonly place: InputPlace;
  state: EntryState;
  /** The lease that is current, and its copy where there is one. */
  held: readonly Attempt[];
  /** Number of the last lease. */
  attempts: number;
  /** Node ids, one for each failure that counts. */
  failedOn: readonly string[];
  /** One for each time its node was lost while it held the shard. */
  lostOn: readonly Loss[];
  /** A device was lost over it once, which was not counted. */
  hasLostDevice: boolean;
  /** Ids of nodes that could not have its sources or write its results, which blames them and not the shard. */
  refusedOn: readonly string[];
  /** How often an answer was put off because its sources may soon be readable. */
  delays: number;
  /** Number of the lease whose answer or failure is being vetted. */
  vetting: number | undefined;
  candidates: readonly Candidate[];
  /** What was committed, once something was. */
  committed: Candidate | undefined;
  /** Leases that were recalled when another answered first: their answers may be on their way. */
  recalled: readonly { session: number; attempt: number }[];
}

/** A node that was lost. One that is restarted has another id, and its name. */
export type Loss = Pick<AttachedNode, 'nodeId' | 'name'>;

/** A file or folder that neighbouring shards read. */
export interface InputPlace {
  readonly uri: string;
  /** A node has begun with it. */
  isTaken: boolean;
}

/** A job that is planned or computed. It is forgotten once it is finalised or abandoned. */
export interface ScheduledJob {
  readonly jobId: string;
  /** The fencing number that its leases carry. */
  readonly epoch: number;
  readonly priority: number;
  readonly verifyPercent: number;
  readonly waitsForNode: boolean;
  /** Shards for nodes that are not done, by number. */
  readonly open: Map<number, ShardEntry>;
  /** Shards that were never leased, in the order of the plan. */
  readonly fresh: QueuesByNeeds<ShardEntry>;
  /** Shards that were leased in vain: they go first, because the job cannot end without them. */
  readonly retries: QueuesByNeeds<ShardEntry>;
  /** What shards that are not done need, and how many of them. */
  readonly needs: Map<string, number>;
  /** Since when no node that is given shards can do it, by need. */
  readonly lackedSinceMs: Map<string, number>;
  /** Why the coordinator could not write its results when it last looked. */
  outputLack: OutputLack | undefined;
  /** Images that are set aside: what is left of their tiles is not leased. By the number of the source. */
  readonly refused: Set<number>;
  /** Committed shards of which a recalled copy may still be answered, by number. */
  readonly contestable: Map<number, ShardEntry>;
  /** Times from lease to answer of the last shards. */
  readonly durations: Durations;
  /** Cost of its leases. */
  leasedBytes: number;
  /** Leases ever given to it, for equal shares to take turns. */
  lastTurn: number;
  /** Copies of stragglers that were leased. */
  copies: number;
  /** Memory of answers that are being written to the ledger. */
  unwrittenBytes: number;
  /** Shards planned so far, those of kept sources too. */
  planned: number;
  /** How many of the planned shards hold kept sources, which the coordinator does. */
  kept: number;
  /** Their numbers, until they are done. */
  readonly keeping: Set<number>;
  planEnded: boolean;
  lastPlace: InputPlace | undefined;
}

/** What a node has shown of something that shards need. It is given no shard that needs what it has not shown. */
export type Sight =
  /** It was asked, and has not answered. */
  | { kind: 'asked'; sinceMs: number }
  /** It can. `waitMs` is how long it was last waited before it was asked again. */
  | { kind: 'shown'; waitMs: number }
  /** It cannot, and is asked again at `askAtMs`. */
  | { kind: 'lacking'; reason: string; sinceMs: number; askAtMs: number; waitMs: number; isAsked: boolean };

/** A node in conversation with us. */
export interface AttachedNode {
  readonly session: number;
  readonly nodeId: string;
  /** For people. */
  readonly name: string;
  /** Cost of the leases that it may hold; 0: none. */
  creditBytes: number;
  readonly decoders: number;
  readonly leases: Set<Attempt>;
  readonly rate: NodeRate;
  readonly health: NodeHealth;
  /** What it has shown of what shards need; of what it was never asked there is nothing. */
  readonly sights: Map<string, Sight>;
  /** It failed, lacked something or was set aside, and has computed nothing since: it gets one shard at a time. */
  isOnProbation: boolean;
  /** What it read last, of any job. */
  place: InputPlace | undefined;
  /** Cost of its leases. */
  leasedBytes: number;
  isDraining: boolean;
  /** It is lost when it has said nothing until then. */
  deadlineMs: number;
}

export interface SchedulerOptions {
  /** The fencing number of this coordinator, which leases carry unless their job has one of its own. */
  epoch: number;
  /** A node is lost when it is silent for longer after an order. */
  reportWithinMs: number;
  /** Time between ticks. */
  tickMs: number;
  /** A job fails when for so long no node that is given shards can do what it needs, unless it waits for one. */
  graceMs?: number;
  /** The same for a host or bucket that it needs to read from. */
  sourceGraceMs?: number;
  /** The same for room for its results, whether the job waits for a node or not. */
  spaceGraceMs?: number;
}

export interface SchedulerState extends Required<SchedulerOptions> {
  readonly jobs: Map<string, ScheduledJob>;
  /** Jobs were given leases so many times. */
  turns: number;
  /** By session. */
  readonly nodes: Map<number, AttachedNode>;
  readonly nodesById: Map<string, AttachedNode>;
  /** Nodes that may have room for more leases. */
  readonly waiting: Set<AttachedNode>;
  /** The health of nodes that were set aside once, for when they attach anew; by id. */
  readonly health: Map<string, NodeHealth>;
  /** How many shards a node failed, in all its conversations, by id; nothing of one that failed none. */
  readonly failures: Map<string, number>;
  /** Why nodes that answered wrongly are not wanted, by id. */
  readonly wrongNodes: Map<string, string>;
  /** Shards that are not done, of all jobs. */
  openShards: number;
  /**
   * Nodes that are given shards, and what they do together; looked up anew at each tick, and when nodes come and go.
   */
  activeNodes: number;
  totalRate: number;
  lastTickMs: number | undefined;
}

/** One call of the scheduler: what it changes, when, and the commands that come of it. */
export interface Turn<Answer> {
  readonly state: SchedulerState;
  readonly now: number;
  readonly commands: Command<Answer>[];
}

/** Longer than a person needs to start another node, or a folder to be mounted again. */
const defaultGraceMs = 120_000;
/** Longer than the restart of a server takes. */
const defaultSourceGraceMs = 600_000;

export function createState(options: SchedulerOptions): SchedulerState {
  return {
    graceMs: defaultGraceMs,
    sourceGraceMs: defaultSourceGraceMs,
    spaceGraceMs: Number.POSITIVE_INFINITY,
    ...options,
    jobs: new Map(),
    turns: 0,
    nodes: new Map(),
    nodesById: new Map(),
    waiting: new Set(),
    health: new Map(),
    failures: new Map(),
    wrongNodes: new Map(),
    openShards: 0,
    activeNodes: 0,
    totalRate: 0,
    lastTickMs: undefined,
  };
}

export function createJob(order: JobOrder, ownEpoch: number): ScheduledJob {
  const { jobId, epoch = ownEpoch, priority = 0, verifyPercent = 0, waitsForNode = false } = order;
  return {
    jobId,
    epoch,
    priority,
    verifyPercent,
    waitsForNode,
    open: new Map(),
    fresh: new QueuesByNeeds(),
    retries: new QueuesByNeeds(),
    needs: new Map(),
    lackedSinceMs: new Map(),
    outputLack: undefined,
    refused: new Set(),
    contestable: new Map(),
    durations: new Durations(),
    leasedBytes: 0,
    lastTurn: 0,
    copies: 0,
    unwrittenBytes: 0,
    planned: 0,
    kept: 0,
    keeping: new Set(),
    planEnded: false,
    lastPlace: undefined,
  };
}

/** Most shards never need a list of their own. */
const none: readonly never[] = [];

export function createEntry(job: ScheduledJob, shard: Shard, place: InputPlace, now: number): ShardEntry {
  return {
    job,
    shard,
    place,
    state: { kind: 'queued', sinceMs: now, notBeforeMs: now, reason: 'first' },
    held: none,
    attempts: 0,
    failedOn: none,
    lostOn: none,
    hasLostDevice: false,
    refusedOn: none,
    delays: 0,
    vetting: undefined,
    candidates: none,
    committed: undefined,
    recalled: none,
  };
}

/** Shards of the job that are for nodes, of those planned so far. */
export const plannedForNodes = ({ planned, kept }: ScheduledJob): number => planned - kept;

/** Shards of the job that wait for a node. */
export function queuedShards(job: ScheduledJob): number {
  return job.fresh.size + job.retries.size;
}
