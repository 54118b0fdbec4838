import type { Hello, Load, PartFound, Probe, SearchPart, Sight } from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import { converse, nextWakeMs } from './conversation.ts';
import {
  type Answer,
  type Conversation,
  type ConversationCommand,
  type ConversationEvent,
  type ConversationOptions,
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
  /** The number of its first lease; those of other agents of the node are far from it. */
  firstLeaseId: number;
  hello: Hello;
  dial: Dial;
  runs: Pick<LeaseRuns, 'start' | 'forget'>;
  /** Says what the node sees of what a probe asks for. Never rejects. */
  look: (probe: Probe) => Promise<Sight>;
  /** Looks through a part of an index. Never rejects. */
  search: (part: SearchPart) => Promise<PartFound>;
  /** Resolves with one sentence when there is no device any more. */
  deviceGone: Promise<string>;
  log: Log;
  /** A clock that never goes back. */
  nowMs: () => number;
  /** In [0, 1). */
  random: () => number;
  /** Called before the coordinator is dialled: it may be brought shards, and given credit. */
  dialling: () => void;
  /** Called when anything has changed. */
  changed: () => void;
  creditTaken: (bytes: number) => void;
  /**
   * Called where the coordinator leads the job from now on: it may be handed what others leased of it before that
   * epoch.
   */
  gather: (jobId: string, epoch: number) => void;
}

/** Reasons that are told of a coordinator that stays away. */
const mostReasons = 20;

/** Holds the conversation with one coordinator: feeds it with what happens and does what it decides. */
export class Agent {
  /** Resolves when the node is done. */
  readonly ended: Promise<Exit>;

  readonly #options: AgentOptions;
  readonly #conversation: ConversationOptions;
  #state: Conversation;
  #connection: Connection | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Reasons for which it did not attach, since it last was. */
  readonly #told = new Set<string>();
  #end!: (exit: Exit) => void;

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#conversation = { address: options.address, hello: options.hello };
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

  /** Shards that are not answered. */
  get leases(): ReadonlyMap<number, UnansweredShard> {
    return this.#state.leases;
  }

  /** Decoded bytes that they hold of the node's credit. */
  get heldBytes(): number {
    return heldBytes(this.#state);
  }

  /** What the coordinator may lease, as it was told last. */
  get creditBytes(): number {
    return this.#state.creditBytes;
  }

  /** The coordinator may lease that much from now on. */
  credit(bytes: number): void {
    this.#handle({ kind: 'credited', bytes });
  }

  /** Gives the shards of a coordinator that is gone to this one, which is dialled now. */
  bring(from: Agent): void {
    const { leases, keepUntilMs } = from.#state;
    if (leases.size === 0) return;
    from.#handle({ kind: 'handedOver', leaseIds: leases.keys() });
    this.#handle({ kind: 'brought', leases, keepUntilMs });
  }

  /** Takes those of its shards away, which another agent goes on with. */
  handOver(leases: ReadonlyMap<number, UnansweredShard>): void {
    this.#handle({ kind: 'handedOver', leaseIds: leases.keys() });
  }

  /** Names the shards of a job that its coordinator has taken over from others, which may lease that much with them. */
  gathered(jobId: string, leases: ReadonlyMap<number, UnansweredShard>, creditBytes: number): void {
    this.#handle({ kind: 'gathered', jobId, leases, creditBytes });
  }

  /** Dials soon, because no other coordinator is there. */
  hurry(): void {
    this.#handle({ kind: 'needed', jitter: this.#options.random() });
  }

  /** Tells the coordinator what the node's workers were at. */
  tell(load: Load): void {
    this.#handle({ kind: 'loaded', load });
  }

  /** One of its shards is computed and waits in a part. */
  inPart(leaseId: number): void {
    this.#handle({ kind: 'shardInPart', leaseId });
  }

  /** What became of one of its shards. */
  answer(answer: Answer & { leaseId: number }): void {
    this.#handle(answer);
  }

  /** Whether a coordinator leases shards to the node. */
  get isAttached(): boolean {
    return this.#state.phase.kind === 'attached';
  }

  /** Finishes what the node holds, then ends with that reason. */
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

  /** An answer of a disk that hangs may come when the conversation has long been another. */
  async #answer<Answer>(asked: Promise<Answer>, toEvent: (answer: Answer) => ConversationEvent): Promise<void> {
    const connection = this.#connection;
    const answer = await asked;
    if (this.#connection === connection) this.#handle(toEvent(answer));
  }

  /**
   * Says what changed, once: a coordinator that stays away is not news every few seconds, unless it is for another
   * reason.
   */
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
    // After a stall of the event loop, what the coordinator said meanwhile is heard before its silence is judged.
    this.#timer = setTimeout(() => setImmediate(() => this.#handle(this.#timePassed())), delayMs);
  }
}
