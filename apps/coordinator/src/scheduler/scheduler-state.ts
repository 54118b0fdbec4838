import type { OutputLack } from '@halogrid/jobs/output-lack';
import type { Shard } from '@halogrid/jobs/shard';
import type { AttemptReason, Command } from './commands.ts';
import { Durations } from './durations.ts';
import type { Candidate, JobOrder, OwnerCredits } from './events.ts';
import type { NodeHealth } from './node-health.ts';
import type { NodeRate } from './node-rate.ts';
import { QueuesByNeeds } from './queues-by-needs.ts';

/** The state of a shard that is not done. */
export type EntryState =
  /** It waits for a node, and at least until `notBeforeMs`. */
  | { kind: 'queued'; sinceMs: number; notBeforeMs: number; reason: AttemptReason }
  /** One node holds it, or two if the first takes too long. */
  | { kind: 'leased' }
  /** Its outcome is being written to the ledger; `nodeId` is its last node, or empty if no node had it. */
  | { kind: 'settling'; nodeId: string; answerBytes: number };

/** One attempt of a shard that is under way. */
export interface Attempt {
  readonly entry: ShardEntry;
  readonly node: AttachedNode;
  /** Counted from 1, for the shard. */
  readonly number: number;
  readonly sinceMs: number;
  /** The reference computes it, to verify the result of a device. */
  readonly verify: boolean;
  /** The node brought it along: how long it has worked on it is unknown. */
  readonly isAdopted: boolean;
  /** Since when its results wait in a part; undefined while the lease counts against the node's credit. */
  inPartSinceMs: number | undefined;
}

/** A shard that is not done, or whose result is contested. */
export interface ShardEntry {
  readonly job: ScheduledJob;
  readonly shard: Shard;
  /** Neighbours in the plan that read the same file or folder share this object. */
  readonly place: InputPlace;
  state: EntryState;
  /** The current lease, and its copy if there is one. */
  held: readonly Attempt[];
  /** Number of the last lease. */
  attempts: number;
  /** Numbers of leases that were answered, with results or a failure: nodes may bring these along again. */
  answered: readonly number[];
  /** Ids of the nodes of all failures that count. */
  failedOn: readonly string[];
  /** Nodes that were lost while they held the shard. */
  lostOn: readonly Loss[];
  /** A device was lost over it once, which did not count as a failure. */
  hasLostDevice: boolean;
  /** Ids of nodes that could not read its sources or write its results; the shard is not blamed. */
  refusedOn: readonly string[];
  /** How often an answer was put off because its sources may soon be readable. */
  delays: number;
  /** Number of the lease whose answer or failure is being vetted. */
  vetting: number | undefined;
  candidates: readonly Candidate[];
  /** The committed answer, if there is one. */
  committed: Candidate | undefined;
  /** Leases that were recalled because another answered first: their answers may be on their way. */
  recalled: readonly { session: number; attempt: number }[];
}

/** A node that was lost. After a restart it has another id and the same name. */
export type Loss = Pick<AttachedNode, 'nodeId' | 'name'>;

/** A file or folder that neighbouring shards read. */
export interface InputPlace {
  readonly uri: string;
  /** A node has begun with it. */
  isTaken: boolean;
}

/** What the jobs of one owner hold together. */
export interface OwnerShare {
  readonly owner: string;
  /** Cost of its leases that hold credit. */
  leasedBytes: number;
  /** `turns` at its last lease: owners with equal shares take turns by it. */
  lastTurn: number;
}

/** A job that is planned or computed. It is forgotten once it is finalised or abandoned. */
export interface ScheduledJob {
  readonly jobId: string;
  /** Shared by all jobs of its owner. */
  readonly share: OwnerShare;
  /** None of its shards is leased for now. */
  isPaused: boolean;
  /** The fencing number that its leases carry. */
  readonly epoch: number;
  readonly priority: number;
  readonly verifyPercent: number;
  readonly waitsForNode: boolean;
  /** Shards for nodes that are not done, by number. */
  readonly open: Map<number, ShardEntry>;
  /** Shards that were never leased, in the order of the plan. */
  readonly fresh: QueuesByNeeds<ShardEntry>;
  /** Shards whose lease gave no result: they go first, because the job cannot end without them. */
  readonly retries: QueuesByNeeds<ShardEntry>;
  /** What shards that are not done need, with the number of such shards. */
  readonly needs: Map<string, number>;
  /** By need: since when no active node meets it. */
  readonly lackedSinceMs: Map<string, number>;
  /** Why the coordinator could not write its results when it last looked. */
  outputLack: OutputLack | undefined;
  /** Quarantined images, whose remaining tiles are not leased. By the number of the source. */
  readonly refused: Set<number>;
  /** Committed shards for which an answer to a recalled lease may still come, by number. */
  readonly contestable: Map<number, ShardEntry>;
  /** Times from lease to answer of the last shards. */
  readonly durations: Durations;
  /** Cost of its leases that hold credit. */
  leasedBytes: number;
  /** `turns` at its last lease: jobs with equal shares take turns by it. */
  lastTurn: number;
  /** Copies of stragglers leased so far. */
  copies: number;
  /** Memory of answers that are being written to the ledger. */
  unwrittenBytes: number;
  /** Shards planned so far, also those that are not for nodes. */
  planned: number;
  /**
   * How many of the planned shards are not for nodes: the coordinator does shards of kept sources itself, and other
   * jobs do the shards of other shares.
   */
  kept: number;
  /** Numbers of the shards of kept sources that are not done. */
  readonly keeping: Set<number>;
  planEnded: boolean;
  lastPlace: InputPlace | undefined;
}

/** Whether a node meets a need. It gets no shard with a need that it has not shown to meet. */
export type Sight =
  /** It was asked, and has not answered. */
  | { kind: 'asked'; sinceMs: number }
  /**
   * It can. `waitMs` is the last pause before it was asked again; `isDoubtful`: it failed a shard although it had shown
   * this before, and has not computed one since.
   */
  | { kind: 'shown'; waitMs: number; isDoubtful?: boolean }
  /** It cannot, and is asked again at `askAtMs`. */
  | {
      kind: 'lacking';
      reason: string;
      sinceMs: number;
      askAtMs: number;
      waitMs: number;
      isAsked: boolean;
      isDoubtful?: boolean;
    };

/** A node in conversation with us. */
export interface AttachedNode {
  readonly session: number;
  readonly nodeId: string;
  /** For people. */
  readonly name: string;
  /** The most that its leases may cost together; 0: it gets none. */
  creditBytes: number;
  readonly decoders: number;
  readonly leases: Set<Attempt>;
  readonly rate: NodeRate;
  readonly health: NodeHealth;
  /** Whether it meets needs; a need that it was never asked about has no entry. */
  readonly sights: Map<string, Sight>;
  /**
   * On probation: it failed, lacked something or was set aside, and has computed nothing since. It gets one shard at a
   * time.
   */
  isOnProbation: boolean;
  /** What it read last, of any job. */
  place: InputPlace | undefined;
  /** How many of its leases hold credit, and their cost. */
  computing: number;
  leasedBytes: number;
  isDraining: boolean;
  /** The node is lost if no message comes by then. */
  deadlineMs: number;
}

export interface SchedulerOptions {
  /** The fencing number of this coordinator, which leases carry unless their job has one of its own. */
  epoch: number;
  /** A node is lost when it is silent for longer after an order. */
  reportWithinMs: number;
  /** Time between ticks. */
  tickMs: number;
  /** A job fails when no active node has met a need for this long, unless it waits for nodes. */
  graceMs?: number;
  /** The same for a host or bucket that it needs to read from. */
  sourceGraceMs?: number;
  /** The same for room for its results, whether the job waits for a node or not. */
  spaceGraceMs?: number;
}

export interface SchedulerState extends Required<SchedulerOptions> {
  readonly jobs: Map<string, ScheduledJob>;
  /** By owner, for all owners of these jobs. */
  readonly shares: Map<string, OwnerShare>;
  credits: OwnerCredits;
  /** How many leases were given. */
  turns: number;
  /** By session. */
  readonly nodes: Map<number, AttachedNode>;
  readonly nodesById: Map<string, AttachedNode>;
  /** Nodes that may have room for more leases. */
  readonly waiting: Set<AttachedNode>;
  /** The health of nodes that were set aside once, for when they attach again; by id. */
  readonly health: Map<string, NodeHealth>;
  /** How many shards a node failed, in all its conversations, by id; no entry for a node that failed none. */
  readonly failures: Map<string, number>;
  /** Why nodes that answered wrongly were sent away, by id. */
  readonly wrongNodes: Map<string, string>;
  /** Shards that are not done, of all jobs that are not paused. */
  openShards: number;
  /** How many leases of all nodes have their results in parts. */
  inParts: number;
  /** Active nodes, and their rate together; updated at each tick, and when nodes come and go. */
  activeNodes: number;
  totalRate: number;
  lastTickMs: number | undefined;
}

/** One call of the scheduler: the state, the time, and the resulting commands. */
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
    shares: new Map(),
    credits: { named: new Map(), others: Number.POSITIVE_INFINITY },
    turns: 0,
    nodes: new Map(),
    nodesById: new Map(),
    waiting: new Set(),
    health: new Map(),
    failures: new Map(),
    wrongNodes: new Map(),
    openShards: 0,
    inParts: 0,
    activeNodes: 0,
    totalRate: 0,
    lastTickMs: undefined,
  };
}

export function createJob({ epoch: ownEpoch, shares }: SchedulerState, order: JobOrder): ScheduledJob {
  const { jobId, owner = '', epoch = ownEpoch, priority = 0, verifyPercent = 0, waitsForNode = false } = order;
  const share = shares.get(owner) ?? { owner, leasedBytes: 0, lastTurn: 0 };
  shares.set(owner, share);
  return {
    jobId,
    share,
    isPaused: order.isPaused ?? false,
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

/** Shared, because most shards never need a list of their own. */
const none: readonly never[] = [];

export function createEntry(job: ScheduledJob, shard: Shard, place: InputPlace, now: number): ShardEntry {
  return {
    job,
    shard,
    place,
    state: { kind: 'queued', sinceMs: now, notBeforeMs: now, reason: 'first' },
    held: none,
    attempts: 0,
    answered: none,
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

/** How many of the shards planned so far are for nodes. */
export const plannedForNodes = ({ planned, kept }: ScheduledJob): number => planned - kept;

/** Shards of the job that wait for a node. */
export function queuedShards(job: ScheduledJob): number {
  return job.fresh.size + job.retries.size;
}
