import type { Load } from '@halogrid/proto';
import type { Executor } from '../executor/executor.ts';
import type { NodeMetrics } from '../metrics/node-metrics.ts';
import { Agent, type AgentOptions } from './agent.ts';
import { decodedBytesOf, type Exit, type UnansweredShard } from './conversation-state.ts';
import { CreditAccount } from './credit-account.ts';
import { LeaseRuns } from './lease-runs.ts';
import { shareCredit } from './share-credit.ts';

/** How a node ended, and whether it should be started again: it was stopped while it had work. */
export interface NodeExit extends Exit {
  hasWorkLeft: boolean;
}

type OptionsOfEach = Pick<
  AgentOptions,
  'hello' | 'drainTimeoutMs' | 'dial' | 'look' | 'search' | 'deviceGone' | 'log' | 'nowMs' | 'random'
>;

export interface AgentsOptions extends OptionsOfEach {
  /** Coordinators as HOST:PORT, at least one. The node holds a conversation with each. */
  addresses: readonly string[];
  execute: Executor;
  metrics: NodeMetrics;
}

/** Time between two looks at how much credit the coordinators use. */
const lookEveryMs = 250;
/** The part of a peak that is left at the next look: after half a second, three quarters. */
const peakLeft = 0.87;
/** Changes of credit below this part of the total are not sent. */
const leastMove = 1 / 64;
/** Distance between the first lease numbers of two agents: no conversation has this many leases. */
const leasesApart = 2 ** 32;

interface Talk {
  agent: Agent;
  account: CreditAccount;
  wasConnected: boolean;
}

/**
 * Holds a conversation with each coordinator, and divides the node's credit among the attached ones. When a coordinator
 * is gone, its shards are brought to the next one that is dialled.
 */
export class Agents {
  /** Resolves when the node is done. */
  readonly ended: Promise<NodeExit>;

  readonly #options: AgentsOptions;
  readonly #talks: Talk[];
  readonly #timer: NodeJS.Timeout | undefined;
  #isAttached = false;
  #idleSinceMs: number | undefined;
  #hasWorkLeft: boolean | undefined;

  constructor(options: AgentsOptions) {
    this.#options = options;
    const { execute, metrics, log, addresses } = options;
    const runs = new LeaseRuns({
      execute,
      metrics,
      log,
      inPart: (leaseId) => this.#holderOf(leaseId)?.inPart(leaseId),
      answered: (answer) => this.#holderOf(answer.leaseId)?.answer(answer),
    });
    this.#talks = addresses.map((address, i) => this.#talkTo(address, 1 + i * leasesApart, runs));
    this.ended = this.#end();
    if (addresses.length > 1) this.#timer = setInterval(() => this.#look(), lookEveryMs);
    for (const { agent } of this.#talks) agent.start();
  }

  /** Whether a coordinator leases shards to the node. */
  get isAttached(): boolean {
    return this.#talks.some(({ agent }) => agent.isAttached);
  }

  /** Tells every coordinator how busy the node's workers were. */
  tell(load: Load): void {
    for (const { agent } of this.#talks) agent.tell(load);
  }

  /** Why the node finishes its shards and takes no more; undefined while it takes them. */
  get drainReason(): string | undefined {
    return this.#talks.map(({ agent }) => agent.drainReason).find((reason) => reason !== undefined);
  }

  /** How long the node has neither had a shard nor searched; 0 while it has one. */
  get idleMs(): number {
    return this.#idleSinceMs === undefined ? 0 : this.#options.nowMs() - this.#idleSinceMs;
  }

  /** Finishes the shards, then ends with `reason`. By default it has work left if it has a shard now. */
  stop(reason: string, hasWorkLeft = this.#leases > 0): void {
    this.#hasWorkLeft ??= hasWorkLeft;
    for (const { agent } of this.#talks) agent.stop(reason);
  }

  #talkTo(address: string, firstLeaseId: number, runs: LeaseRuns): Talk {
    const { hello, addresses, log } = this.#options;
    const account = new CreditAccount();
    // Until one of them is attached, each has an equal part.
    const creditBytes = Math.floor(hello.creditBytes / addresses.length);
    const agent: Agent = new Agent({
      ...this.#options,
      address,
      firstLeaseId,
      runs,
      hello: { ...hello, creditBytes },
      log: addresses.length > 1 ? log.child({ coordinator: address }) : log,
      search: (part) => {
        if (this.#idleSinceMs !== undefined) this.#idleSinceMs = this.#options.nowMs();
        return this.#options.search(part);
      },
      dialling: () => this.#dialling(agent),
      changed: () => this.#changed(),
      creditTaken: (bytes) => account.taken(bytes),
      gather: (jobId, epoch) => this.#gather({ agent, account }, jobId, epoch),
    });
    return { agent, account, wasConnected: false };
  }

  /** When one agent ends, because it was asked to or cannot go on, all end. An exit with code 1 takes precedence. */
  async #end(): Promise<NodeExit> {
    const exits = this.#talks.map(({ agent }) => agent.ended);
    const first = await Promise.race(exits);
    this.stop(first.reason, false);
    const all = await Promise.all(exits);
    clearInterval(this.#timer);
    const exit = all.find(({ code }) => code !== 0) ?? first;
    return { ...exit, hasWorkLeft: exit.code === 0 && this.#hasWorkLeft === true };
  }

  /** Unanswered shards of all coordinators. An agent may ask before all agents exist. */
  get #leases(): number {
    return (this.#talks ?? []).reduce((sum, { agent }) => sum + agent.leases.size, 0);
  }

  #holderOf(leaseId: number): Agent | undefined {
    return this.#talks.find(({ agent }) => agent.leases.has(leaseId))?.agent;
  }

  #dialling(dialled: Agent): void {
    if (this.#talks.length === 1) return;
    for (const { agent } of this.#talks) {
      if (agent !== dialled && agent.phase === 'waiting') dialled.bring(agent);
    }
    // While another coordinator is connected, a new one begins without credit: the others first have to use less.
    if (this.#talks.some(({ agent }) => isConnected(agent))) dialled.credit(0);
    else dialled.credit(Math.floor(this.#options.hello.creditBytes / this.#talks.length));
  }

  /**
   * Hands shards of a job to the coordinator that leads it now, also if others leased them. The node holds these shards
   * already, so they raise the credit of this coordinator.
   */
  #gather({ agent, account }: Pick<Talk, 'agent' | 'account'>, jobId: string, epoch: number): void {
    // Such a node gets its files through the coordinator that leased the shard.
    if (this.#options.hello.remoteStorage) return;
    const gathered = new Map<number, UnansweredShard>();
    for (const { agent: other } of this.#talks) {
      if (other === agent) continue;
      const meant = new Map([...other.leases].filter(([, { lease }]) => lease.jobId === jobId && lease.epoch < epoch));
      other.handOver(meant);
      for (const [leaseId, held] of meant) gathered.set(leaseId, held);
    }
    if (gathered.size === 0) return;
    const bytes = agent.creditBytes + decodedBytesOf(gathered);
    account.tell(bytes);
    agent.gathered(jobId, gathered, bytes);
  }

  #changed(): void {
    // An agent may call this before all agents exist.
    const talks = this.#talks ?? [];
    for (const talk of talks) {
      const { agent, account } = talk;
      const isNow = isConnected(agent);
      if (isNow !== talk.wasConnected) account.begin(isNow ? agent.creditBytes : 0);
      talk.wasConnected = isNow;
    }
    const { metrics } = this.#options;
    metrics.attached.set(this.isAttached ? 1 : 0);
    metrics.leases.set(this.#leases);
    this.#idleSinceMs = this.#leases > 0 ? undefined : (this.#idleSinceMs ?? this.#options.nowMs());
    const wasAttached = this.#isAttached;
    this.#isAttached = this.isAttached;
    if (wasAttached && !this.#isAttached && talks.length > 1) for (const { agent } of talks) agent.hurry();
  }

  #look(): void {
    for (const { agent, account } of this.#talks) {
      const usedBytes = Math.min(agent.creditBytes, agent.unansweredBytes);
      account.peakBytes = Math.max(usedBytes, account.peakBytes * peakLeft);
    }
    const attached = this.#talks.filter(({ agent }) => agent.isAttached);
    if (attached.length === 0) return;
    const { creditBytes: totalBytes } = this.#options.hello;
    const shares = shareCredit(
      totalBytes,
      attached.map(({ account: { peakBytes } }) => ({ peakBytes })),
    );
    const claimed = () => this.#talks.reduce((sum, { agent, account }) => sum + account.claim(agent.heldBytes), 0);
    const tell = ({ agent, account }: Talk, bytes: number) => {
      if (Math.abs(bytes - agent.creditBytes) < totalBytes * leastMove && agent.creditBytes > 0) return;
      account.tell(bytes);
      agent.credit(bytes);
    };
    for (const [i, talk] of attached.entries()) if (shares[i]! < talk.agent.creditBytes) tell(talk, shares[i]!);
    for (const [i, talk] of attached.entries()) {
      const { agent, account } = talk;
      const own = account.claim(agent.heldBytes);
      const bytes = Math.min(shares[i]!, own + Math.max(0, totalBytes - claimed()));
      if (bytes > agent.creditBytes) tell(talk, bytes);
    }
  }
}

/** Whether the coordinator was told a credit, so that it may lease. */
const isConnected = ({ phase }: Agent): boolean => phase === 'attached' || phase === 'greeting';
