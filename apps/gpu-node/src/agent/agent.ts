import { MissingDecoderError } from '@halogrid/imaging';
import { decodeNeed, type Hello, type PartFound, type Probe, type SearchPart, type Sight } from '@halogrid/proto';
import type { Log } from '@halogrid/service';
import { DeviceLostError } from '../devices/device.ts';
import type { Executor } from '../executor/executor.ts';
import { OutputError } from '../executor/shard-run.ts';
import type { NodeMetrics } from '../metrics/node-metrics.ts';
import { converse, nextWakeMs } from './conversation.ts';
import {
  type Conversation,
  type ConversationCommand,
  type ConversationEvent,
  type ConversationOptions,
  type Exit,
  startConversation,
} from './conversation-state.ts';
import type { Connection, Dial } from './dial.ts';

export interface AgentOptions {
  /** Coordinators as HOST:PORT, tried in turn. */
  addresses: readonly string[];
  hello: Hello;
  dial: Dial;
  execute: Executor;
  /** Says what the node sees of what a probe asks for. Never rejects. */
  look: (probe: Probe) => Promise<Sight>;
  /** Looks through a part of an index. Never rejects. */
  search: (part: SearchPart) => Promise<PartFound>;
  /** Resolves with one sentence when there is no device any more. */
  deviceGone: Promise<string>;
  log: Log;
  metrics: NodeMetrics;
  /** A clock that never goes back. */
  nowMs: () => number;
  /** In [0, 1). */
  random: () => number;
}

/** Reasons that are told of a coordinator that stays away. */
const mostReasons = 20;

/** Holds the conversation with the coordinator: feeds it with what happens and does what it decides. */
export class Agent {
  /** Resolves when the node is done. */
  readonly ended: Promise<Exit>;

  readonly #options: AgentOptions;
  readonly #conversation: ConversationOptions;
  readonly #running = new Map<number, AbortController>();
  #state: Conversation;
  #connection: Connection | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Reasons for which it did not attach, since it last was. */
  readonly #told = new Set<string>();
  #end!: (exit: Exit) => void;

  constructor(options: AgentOptions) {
    this.#options = options;
    this.#conversation = { addresses: options.addresses, hello: options.hello };
    this.#state = startConversation(options.nowMs());
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    void options.deviceGone.then((reason) => this.#handle({ kind: 'deviceGone', reason }));
    this.#handle(this.#timePassed());
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
    const { nowMs, metrics } = this.#options;
    const before = this.#state;
    const { state, commands } = converse(before, event, nowMs(), this.#conversation);
    this.#state = state;
    for (const command of commands) this.#obey(command);
    this.#tell(before, event, commands);
    metrics.attached.set(this.isAttached ? 1 : 0);
    metrics.leases.set(state.leases.size);
    this.#setTimer();
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
        void this.#execute(command);
        break;
      case 'look':
        void this.#answer(this.#options.look(command.probe), (sight) => ({ kind: 'looked', sight }));
        break;
      case 'search':
        void this.#answer(this.#options.search(command.part), (found) => ({ kind: 'searched', found }));
        break;
      case 'forgetShard':
        this.#running.get(command.leaseId)?.abort(new Error('The lease was taken back'));
        this.#options.metrics.shards.inc({ outcome: 'forgotten' });
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

  async #execute({ leaseId, lease }: Extract<ConversationCommand, { kind: 'startShard' }>): Promise<void> {
    const { execute, metrics, log } = this.#options;
    const abort = new AbortController();
    this.#running.set(leaseId, abort);
    const { jobId, shard, attempt } = lease;
    try {
      const report = await execute(lease, abort.signal);
      if (abort.signal.aborted) return;
      metrics.observeShard(lease, report);
      for (const { source, stage, error } of report.errors) log.warn({ jobId, source, stage }, error);
      this.#handle({ kind: 'shardCompleted', leaseId, report });
    } catch (caught) {
      if (abort.signal.aborted) return;
      const error = caught instanceof Error ? caught.message : String(caught);
      metrics.shards.inc({ outcome: 'failed' });
      log.error({ jobId, shard, attempt }, error);
      this.#handle({
        kind: 'shardFailed',
        leaseId,
        error,
        isOutput: caught instanceof OutputError,
        isDevice: caught instanceof DeviceLostError,
        need: caught instanceof MissingDecoderError ? decodeNeed(caught) : '',
      });
    } finally {
      this.#running.delete(leaseId);
    }
  }

  /** Says what changed, once: a coordinator that stays away is not news every few seconds, unless it is for another reason. */
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
