import type { Hello, Load, PartFound, Probe, SearchPart, Sight } from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import { converse, nextWakeMs } from './conversation.ts';
import {
  type Answer,
  type Conversation,
  type ConversationCommand,
  type ConversationEvent,
  type ConversationOptions,
  costOf,
  type Exit,
  heldBytes,
  type Phase,
  startConversation,
  type UnansweredShard,
} from './conversation-state.ts';
import type { Connection, Dial } from './dial.ts';
import type { LeaseRuns } from './lease-runs.ts';

export interface AgentOptions {
  /** HOST:PORT. */
  address: string;
  /** The number of its first lease. The numbers of the node's other agents are far from it. */
  firstLeaseId: number;
  hello: Hello;
  /** A draining node computes for this long. */
  drainTimeoutMs: number;
  dial: Dial;
  runs: Pick<LeaseRuns, 'start' | 'forget'>;
  /**
   * Tells which of a probe's files the node can read, and whether it can write to the probe's folder. Never rejects.
   */
  look: (probe: Probe) => Promise<Sight>;
  /** Searches a part of an index. Never rejects. */
  search: (part: SearchPart) => Promise<PartFound>;
  /** Resolves with the reason, one sentence, when the device is lost for good. */
  deviceGone: Promise<string>;
  log: Log;
  /** A clock that never goes back. */
  nowMs: () => number;
  /** In [0, 1). */
  random: () => number;
  /** Called before the coordinator is dialled. The callee may bring shards to this agent and set its credit. */
  dialling: () => void;
  /** Called after every event, because anything may have changed. */
  changed: () => void;
  creditTaken: (bytes: number) => void;
  /**
   * Called when the coordinator takes over the job. Shards of the job that other coordinators leased with an earlier
   * epoch than `epoch` may be gathered.
   */
  gather: (jobId: string, epoch: number) => void;
}

/** The log gives at most this many different reasons for which a coordinator stays away. */
const mostReasons = 20;

/** Holds the conversation with one coordinator: feeds events to the state machine and carries out its commands. */
export class Agent {
  /** Resolves when the node is done. */
  readonly ended: Promise<Exit>;

  readonly #options: AgentOptions;
  readonly #conversation: ConversationOptions;
  #state: Conversation;
  #connection: Connection | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Reasons logged since the coordinator was last attached. */
  readonly #told = new Set<string>();
  #end!: (exit: Exit) => void;

  constructor(options: AgentOptions) {
    this.#options = options;
    const { address, hello, drainTimeoutMs } = options;
    this.#conversation = { address, hello, drainTimeoutMs };
    this.#state = startConversation(options.nowMs(), options.hello.creditBytes, options.firstLeaseId);
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    void options.deviceGone.then((reason) => this.#handle({ kind: 'deviceGone', reason }));
  }

  /** Dials, and goes on until the conversation has ended. */
  start(): void {
    this.#handle(this.#timePassed());
  }

  get phase(): Phase['kind'] {
    return this.#state.phase.kind;
  }

  /** Unanswered shards, by the number of their lease. */
  get leases(): ReadonlyMap<number, UnansweredShard> {
    return this.#state.leases;
  }

  /** Decoded bytes of the node's credit that the unanswered shards use. */
  get heldBytes(): number {
    return heldBytes(this.#state);
  }

  /** Decoded bytes of all of its shards, including shards in parts. */
  get unansweredBytes(): number {
    return costOf(this.#state.leases.values());
  }

  /** Decoded bytes that the coordinator may lease, as it was told last. */
  get creditBytes(): number {
    return this.#state.creditBytes;
  }

  /** Sets the credit of the coordinator: the decoded bytes that it may lease. */
  credit(bytes: number): void {
    this.#handle({ kind: 'credited', bytes });
  }

  /** Takes over the shards of `from`, whose coordinator is gone. Called just before this agent dials. */
  bring(from: Agent): void {
    const { leases, keepUntilMs } = from.#state;
    if (leases.size === 0) return;
    from.#handle({ kind: 'handedOver', leaseIds: leases.keys() });
    this.#handle({ kind: 'brought', leases, keepUntilMs });
  }

  /** Removes shards, with which another agent goes on. */
  handOver(leases: ReadonlyMap<number, UnansweredShard>): void {
    this.#handle({ kind: 'handedOver', leaseIds: leases.keys() });
  }

  /** Reports to the coordinator, which now leads the job, shards of the job that others leased, and its new credit. */
  gathered(jobId: string, leases: ReadonlyMap<number, UnansweredShard>, creditBytes: number): void {
    this.#handle({ kind: 'gathered', jobId, leases, creditBytes });
  }

  /** Dials soon, because no other coordinator is attached. */
  hurry(): void {
    this.#handle({ kind: 'needed', jitter: this.#options.random() });
  }

  /** Tells the coordinator how busy the node's workers were. */
  tell(load: Load): void {
    this.#handle({ kind: 'loaded', load });
  }

  /** Takes the news that one of its shards is computed and waits in a part. */
  inPart(leaseId: number): void {
    this.#handle({ kind: 'shardInPart', leaseId });
  }

  /** Takes the outcome of one of its shards. */
  answer(answer: Answer & { leaseId: number }): void {
    this.#handle(answer);
  }

  /** Whether a coordinator leases shards to the node. */
  get isAttached(): boolean {
    return this.#state.phase.kind === 'attached';
  }

  /** Why the node finishes its shards and takes no more; undefined while it takes them. */
  get drainReason(): string | undefined {
    return this.#state.draining === 'no' ? undefined : this.#state.drainReason;
  }

  /** Finishes the shards, then ends with `reason`. */
  stop(reason: string): void {
    this.#handle({ kind: 'stopRequested', reason });
  }

  #timePassed(): ConversationEvent {
    return { kind: 'timePassed', jitter: this.#options.random() };
  }

  #handle(event: ConversationEvent): void {
    const { nowMs, dialling, changed } = this.#options;
    const { phase } = this.#state;
    if (event.kind === 'timePassed' && phase.kind === 'waiting' && phase.dialAtMs <= nowMs()) dialling();
    const before = this.#state;
    const { state, commands } = converse(before, event, nowMs(), this.#conversation);
    this.#state = state;
    for (const command of commands) this.#obey(command);
    this.#tell(before, event, commands);
    this.#setTimer();
    changed();
  }

  #obey(command: ConversationCommand): void {
    switch (command.kind) {
      case 'dial':
        this.#dial(command.address);
        break;
      case 'send':
        this.#connection?.send(command.report);
        break;
      case 'closeStream':
        this.#connection?.closeStream();
        break;
      case 'hangUp':
        this.#connection?.hangUp();
        this.#connection = undefined;
        break;
      case 'startShard':
        void this.#options.runs.start(command.leaseId, command.lease);
        break;
      case 'look':
        void this.#answer(this.#options.look(command.probe), (sight) => ({ kind: 'looked', sight }));
        break;
      case 'search':
        void this.#answer(this.#options.search(command.part), (found) => ({ kind: 'searched', found }));
        break;
      case 'forgetShard':
        this.#options.runs.forget(command.leaseId);
        break;
      case 'creditTaken':
        this.#options.creditTaken(command.bytes);
        break;
      case 'gather':
        this.#options.gather(command.jobId, command.epoch);
        break;
      case 'end':
        this.#end(command.exit);
        break;
    }
  }

  #dial(address: string): void {
    const { dial, random } = this.#options;
    const connection: Connection = dial(address, {
      ordered: (order) => {
        if (this.#connection === connection) this.#handle({ kind: 'ordered', order });
      },
      disconnected: (reason, isRefusal) => {
        if (this.#connection !== connection) return;
        this.#connection = undefined;
        this.#handle({ kind: 'disconnected', reason, isRefusal, jitter: random() });
      },
    });
    this.#connection = connection;
  }

  /** A disk that hangs may answer during a later conversation: that answer is dropped. */
  async #answer<Answer>(asked: Promise<Answer>, toEvent: (answer: Answer) => ConversationEvent): Promise<void> {
    const connection = this.#connection;
    const answer = await asked;
    if (this.#connection === connection) this.#handle(toEvent(answer));
  }

  /** Logs a change of state once. While a coordinator stays away, only a new reason is logged. */
  #tell(before: Conversation, event: ConversationEvent, commands: readonly ConversationCommand[]): void {
    const { log } = this.#options;
    const { phase, attempts, draining, drainReason } = this.#state;
    const wasAttached = before.phase.kind === 'attached';
    if (!wasAttached && phase.kind === 'attached') {
      log.info('Attached to the coordinator');
      this.#told.clear();
    }
    if (before.draining === 'no' && draining !== 'no') log.info(`Draining: ${drainReason}`);
    if (phase.kind !== 'waiting' || attempts === before.attempts) return;
    const hangUp = commands.find((command) => command.kind === 'hangUp');
    const reason = event.kind === 'disconnected' ? event.reason : hangUp?.reason;
    if (wasAttached) log.warn(`Lost the coordinator: ${reason}; dialling until there is one`);
    else if (reason && !this.#told.has(reason) && this.#told.size < mostReasons) {
      this.#told.add(reason);
      log.warn(`Not attached yet, dialling on: ${reason}`);
    }
  }

  #setTimer(): void {
    clearTimeout(this.#timer);
    const wakeMs = nextWakeMs(this.#state);
    if (wakeMs === undefined) return;
    const delayMs = Math.max(0, Math.ceil(wakeMs - this.#options.nowMs()));
    // After a stall of the event loop, messages that arrived meanwhile are handled before the silence is judged.
    this.#timer = setTimeout(() => setImmediate(() => this.#handle(this.#timePassed())), delayMs);
  }
}
