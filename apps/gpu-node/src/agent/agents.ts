import type { Lease, Load } from '@halogrid/proto';
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
  /** The name that an address was found by, if it is not from the options. */
  nameOf?: (address: string) => string | undefined;
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
  address: string;
  agent: Agent;
  account: CreditAccount;
  wasConnected: boolean;
  /** Whether its address still is one of a coordinator. */
  isListed: boolean;
  /** It ends, and the node goes on with others. */
  isLeaving: boolean;
  /** As its coordinator said last. */
  epoch?: number;
}

/**
 * Holds a conversation with each coordinator, and divides the node's credit among the attached ones. When a coordinator
 * is gone, its shards are brought to the next one that is dialled.
 */
export class Agents {
  /** Resolves when the node is done. */
  readonly ended: Promise<NodeExit>;

  readonly #options: AgentsOptions;
  readonly #runs: LeaseRuns;
  #talks: Talk[] = [];
  #timer: NodeJS.Timeout | undefined;
  #isAttached = false;
  #idleSinceMs: number | undefined;
  #hasWorkLeft: boolean | undefined;
  #isStopped = false;
  /** How many conversations were begun. */
  #begun = 0;
  readonly #first = Promise.withResolvers<Exit>();
  /** Further addresses of coordinators that are attached already. */
  #twins = new Set<string>();

  constructor(options: AgentsOptions) {
    this.#options = options;
    const { execute, metrics, log, addresses } = options;
    this.#runs = new LeaseRuns({
      execute,
      metrics,
      log,
      inPart: (leaseId) => this.#holderOf(leaseId)?.inPart(leaseId),
      answered: (answer) => this.#holderOf(answer.leaseId)?.answer(answer),
    });
    this.ended = this.#end();
    this.#join(addresses, addresses.length);
  }

  /**
   * From now on the coordinators are these. A conversation with another goes on until its connection ends, because a
   * name may lose an address before the coordinator there has stopped.
   */
  async setAddresses(addresses: readonly string[]): Promise<void> {
    const isNew = (address: string) => !this.#talks.some((talk) => talk.address === address);
    if (addresses.some(isNew)) this.#twins.clear();
    for (const talk of this.#talks) talk.isListed = addresses.includes(talk.address);
    // A coordinator must not be dialled by its name and its address at once: it knows a node only once.
    const named = this.#talks.filter(({ address, isListed }) => !isListed && !this.#options.nameOf?.(address));
    await Promise.all(named.map((talk) => this.#leave(talk, 'Its name has several addresses now')));
    const missing = addresses.filter((address) => isNew(address) && !this.#twins.has(address));
    if (!this.#isStopped) this.#join(missing, addresses.length);
  }

  #join(addresses: readonly string[], count: number): void {
    const talks = addresses.map((address) => this.#talkTo(address, count));
    this.#talks.push(...talks);
    if (this.#talks.length > 1) this.#timer ??= setInterval(() => this.#look(), lookEveryMs);
    for (const { agent } of talks) agent.start();
  }

  /** Ends one conversation, after its shards if its coordinator is attached or answers once more. */
  async #leave(talk: Talk, reason: string): Promise<void> {
    talk.isLeaving = true;
    talk.agent.stop(reason);
    await talk.agent.ended;
    this.#talks = this.#talks.filter((other) => other !== talk);
    this.#changed();
  }

  /**
   * A coordinator that has two addresses ends the older of two conversations with a node. Its epoch tells: coordinators
   * of one ledger have different ones.
   */
  #welcomed(talk: Talk, epoch: number): void {
    talk.epoch = epoch;
    const name = this.#options.nameOf?.(talk.address);
    if (name === undefined) return;
    const twin = this.#talks.find(
      (other) => other !== talk && other.epoch === epoch && this.#options.nameOf?.(other.address) === name,
    );
    // One that leaves may dial once more to say so; it does not end the other.
    if (!twin || twin.isLeaving || talk.isLeaving) return;
    this.#twins.add(twin.address);
    void this.#leave(twin, `Its coordinator is attached at ${talk.address}`);
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
    const staying = this.#talks.filter(({ isLeaving }) => !isLeaving);
    return staying.map(({ agent }) => agent.drainReason).find((reason) => reason !== undefined);
  }

  /** How long the node has neither had a shard nor searched; 0 while it has one. */
  get idleMs(): number {
    return this.#idleSinceMs === undefined ? 0 : this.#options.nowMs() - this.#idleSinceMs;
  }

  /** Finishes the shards, then ends with `reason`. By default it has work left if it has a shard now. */
  stop(reason: string, hasWorkLeft = this.#leases > 0): void {
    this.#hasWorkLeft ??= hasWorkLeft;
    this.#isStopped = true;
    for (const { agent } of this.#talks) agent.stop(reason);
  }

  #talkTo(address: string, count: number): Talk {
    const { hello, log, dial } = this.#options;
    const account = new CreditAccount();
    // Until one of them is attached, each has an equal part.
    const creditBytes = Math.floor(hello.creditBytes / count);
    const agent: Agent = new Agent({
      ...this.#options,
      address,
      firstLeaseId: 1 + this.#begun++ * leasesApart,
      runs: this.#runs,
      hello: { ...hello, creditBytes },
      log: count > 1 ? log.child({ coordinator: address }) : log,
      dial: (at, listener) =>
        dial(at, {
          ...listener,
          ordered: (response) => {
            listener.ordered(response);
            if (response.order?.$case === 'welcome') this.#welcomed(talk, response.order.value.epoch);
          },
        }),
      search: (part) => {
        if (this.#idleSinceMs !== undefined) this.#idleSinceMs = this.#options.nowMs();
        return this.#options.search(part);
      },
      dialling: () => this.#dialling(agent),
      changed: () => this.#changed(),
      creditTaken: (bytes) => account.taken(bytes),
      gather: (jobId, epoch) => this.#gather({ agent, account }, jobId, epoch),
    });
    const talk: Talk = { address, agent, account, wasConnected: false, isListed: true, isLeaving: false };
    void agent.ended.then((exit) => {
      if (!talk.isLeaving) this.#first.resolve(exit);
    });
    return talk;
  }

  /** When one agent ends, because it was asked to or cannot go on, all end. An exit with code 1 takes precedence. */
  async #end(): Promise<NodeExit> {
    const first = await this.#first.promise;
    this.stop(first.reason, false);
    const all = await Promise.all(this.#talks.map(({ agent }) => agent.ended));
    clearInterval(this.#timer);
    const exit = all.find(({ code }) => code !== 0) ?? first;
    return { ...exit, hasWorkLeft: exit.code === 0 && this.#hasWorkLeft === true };
  }

  /** Shards of all coordinators that the node has not answered. */
  get #leases(): number {
    let count = 0;
    for (const { agent } of this.#talks) for (const { wasSent } of agent.leases.values()) if (!wasSent) count++;
    return count;
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
    const gathered = new Map<number, UnansweredShard>();
    for (const { agent: other } of this.#talks) {
      if (other === agent) continue;
      const meant = new Map([...other.leases].filter(([, { lease }]) => isOlder(lease, jobId, epoch)));
      other.handOver(meant);
      for (const [leaseId, held] of meant) gathered.set(leaseId, held);
    }
    if (gathered.size === 0) return;
    const bytes = agent.creditBytes + decodedBytesOf(gathered);
    account.tell(bytes);
    agent.gathered(jobId, gathered, bytes);
  }

  #changed(): void {
    const talks = this.#talks;
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
    for (const talk of this.#talks) {
      const { agent, isListed, isLeaving } = talk;
      if (!isListed && !isLeaving && agent.phase === 'waiting' && agent.leases.size === 0) {
        void this.#leave(talk, 'No coordinator is at this address any more');
      }
    }
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

/** Whether a lease is of an earlier leader of the job, and its files do not go through that leader. */
const isOlder = (lease: Lease, jobId: string, epoch: number): boolean =>
  lease.jobId === jobId && lease.epoch < epoch && lease.handOver === '';
