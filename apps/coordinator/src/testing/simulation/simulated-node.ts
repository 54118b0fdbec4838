import { Hello } from '@halogrid/proto';
import { resultsVersion } from '@halogrid/service';
import type { LeaseOrder, NodeReport } from '../../dispatch/node-session.ts';
import type { BroughtLease } from '../../scheduler/events.ts';
import { checkHello } from '../../services/check-hello.ts';
import { type HeldShard, HeldShards } from './held-shards.ts';
import type { NodeNature } from './node-nature.ts';
import { NodeStorage } from './node-storage.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { SimulatedCoordinator } from './simulated-coordinator.ts';
import type { FullDisk, Outage } from './simulated-files.ts';
import { answerOf, changedResultsOf, resultsOf, type SimulatedJob, wrongResultsOf } from './simulated-job.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface NodeSurroundings {
  clock: VirtualClock;
  random: SeededRandom;
  /** The coordinator that the node can dial; undefined while there is none. */
  leader: () => SimulatedCoordinator | undefined;
  jobs: ReadonlyMap<string, SimulatedJob>;
  /** Disks that are full. */
  full: readonly FullDisk[];
  /** Hosts that are away. */
  outages: readonly Outage[];
  reportWithinMs: number;
  /** The node's conversations with other coordinators. */
  siblings?: readonly SimulatedNode[];
  /** How many times longer the reference takes than the device. */
  referenceSlowness: number;
}

/**
 * How long a node waits after its connection broke, at first and at most; and how long a dead process takes to start
 * again.
 */
const redialMs = 250;
const longestRedialMs = 1000;
const restartMs = 2000;
/** Shards outlive their connection for this long. */
const keepMs = 60_000;
/** Answers that were sent within this time before the connection broke may be lost. */
const recordedMs = 5_000;

/** A node with one device that computes one shard at a time, as the coordinator sees it. */
export class SimulatedNode {
  readonly nature: NodeNature;
  readonly storage: NodeStorage;
  /** The cost of all shards that it computed, in bytes, whether or not they counted. */
  computedBytes = 0;
  /** When it last computed something. */
  busyUntilMs = 0;
  readonly #world: NodeSurroundings;
  /** Counts its processes: a restarted node has another id. */
  #life = 1;
  /** Counts its conversations; events of an earlier one are void. */
  #conversation = 0;
  #link: { coordinator: SimulatedCoordinator; session: number } | undefined;
  /** The coordinator has said which shards go on. */
  #isWelcome = false;
  readonly #held = new HeldShards();
  #frozenUntilMs = 0;
  #partedUntilMs = 0;
  #silentBeats = 0;
  #dials = 0;
  #deviceLosses = 0;
  #isBeating = false;
  /** Its process has answered a shard. */
  #hasComputed = false;
  #state: 'down' | 'up' | 'draining' | 'gone' = 'down';

  constructor(nature: NodeNature, world: NodeSurroundings) {
    this.nature = nature;
    this.storage = new NodeStorage(nature.blind, world.clock, world);
    this.#world = world;
  }

  get nodeId(): string {
    return `${this.nature.name}-${this.#life}`;
  }

  get isGone(): boolean {
    return this.#state === 'gone';
  }

  /** How many shards it holds and has not answered. */
  get heldShards(): number {
    return this.#held.size;
  }

  /** Dials, and is attached at once. */
  start(): void {
    if (this.#state !== 'down') return;
    this.#state = 'up';
    this.#dial();
    this.#beat();
  }

  /** The process ends without a word. The coordinator notices unless the network is gone, too. */
  crash(isNoticed = true, comesBack = true): void {
    if (this.#state !== 'up' && this.#state !== 'draining') return;
    const isWanted = comesBack && this.#state === 'up';
    this.#state = 'down';
    this.#hangUp(isNoticed);
    this.#held.clear();
    this.#life++;
    this.#hasComputed = false;
    if (!isWanted) this.#state = 'gone';
    else this.#world.clock.after(restartMs, () => this.start());
  }

  /** The connection breaks for at least `ms`, then the node dials again. Reports on their way are lost. */
  cut(isNoticed = true, ms = 0): void {
    if (this.#state !== 'up') return;
    this.#partedUntilMs = this.#world.clock.monotonicMs() + ms;
    this.#breakOff(isNoticed);
  }

  /** The process stands still, as with SIGSTOP, and goes on later. */
  freeze(ms: number): void {
    this.#frozenUntilMs = this.#world.clock.monotonicMs() + ms;
  }

  /** The process is asked to end within `graceMs`: it hands back shards that it cannot finish by then. */
  drain(graceMs: number): void {
    if (this.#state !== 'up' || !this.#isWelcome) return;
    this.#state = 'draining';
    this.#report({ kind: 'NodeDraining' });
    this.#world.clock.after(graceMs, () => this.#handBack());
    this.#leaveWhenIdle();
  }

  /** The coordinator's process is gone. */
  coordinatorDied(coordinator: SimulatedCoordinator): void {
    if (this.#link?.coordinator === coordinator) this.#breakOff(false);
  }

  #handBack(): void {
    if (this.#state !== 'draining') return;
    for (const { order } of this.#held.list()) this.#report({ kind: 'ShardReturned', lease: order.lease });
    this.#held.clear();
    this.#leaveWhenIdle();
  }

  #leaveWhenIdle(): void {
    // A lease that crossed the announcement arrives within two latencies.
    const conversation = this.#conversation;
    this.#world.clock.after(8 * this.nature.latencyMs, () => {
      if (this.#state !== 'draining' || this.#conversation !== conversation || this.#held.size > 0) return;
      this.#state = 'gone';
      this.#hangUp(true);
    });
  }

  #dial(): void {
    if (this.#state !== 'up' || this.#link) return;
    const { clock, leader } = this.#world;
    const coordinator = clock.monotonicMs() < this.#partedUntilMs ? undefined : leader();
    if (coordinator) this.#attach(coordinator);
    else this.#dialLater();
  }

  #attach(coordinator: SimulatedCoordinator): void {
    const hello = this.#hello();
    try {
      checkHello({ $case: 'hello', value: hello });
    } catch {
      this.#state = 'gone';
      return;
    }
    const conversation = ++this.#conversation;
    /** Orders arrive after the latency, in their conversation and in order. */
    const arrives = (happen: () => void): void => {
      this.#world.clock.after(this.nature.latencyMs, () => this.#awake(conversation, happen));
    };
    this.#dials = 0;
    this.#silentBeats = 0;
    const session = coordinator.dispatcher.nodes.attach(hello, {
      welcome: (kept) => arrives(() => this.#welcomed(kept)),
      lease: (order) => arrives(() => this.#take(order)),
      recall: (jobId, shards) => arrives(() => this.#forget(jobId, shards)),
      probe: (probe) =>
        arrives(() => {
          this.#report({ kind: 'NodeLooked', sight: this.storage.sight(probe) });
        }),
      // Never called: its hello does not say that it searches.
      search: () => {},
      bring: (jobId, epoch) => arrives(() => this.#bring(jobId, epoch)),
      kept: (jobId, kept) => {
        const isAsked = ({ order, isBrought }: HeldShard): boolean => isBrought === true && order.lease.jobId === jobId;
        arrives(() => this.#goOn(this.#held.list().filter(isAsked), kept));
      },
      creditTaken: () => {},
      drop: (_reason, isFinal) => arrives(() => this.#dropped(isFinal)),
    });
    this.#link = { coordinator, session };
  }

  #hello(): Hello {
    const { name, creditBytes, protocol } = this.nature;
    return Hello.fromPartial({
      nodeId: this.nodeId,
      name,
      protocol,
      creditBytes,
      resultsVersion,
      device: { kind: 'gpu', name: 'simulated' },
      hasComputed: this.#hasComputed,
      held: this.#held.list().map(nameOf),
    });
  }

  #dialLater(): void {
    const ms = Math.min(longestRedialMs, redialMs * 2 ** this.#dials++);
    const conversation = this.#conversation;
    this.#world.clock.after(ms, () => {
      if (this.#conversation === conversation) this.#dial();
    });
  }

  /**
   * Does something in this conversation, unless it is over. If the process stands still, it does so when it runs again.
   */
  #awake(conversation: number, happen: () => void): void {
    if (this.#conversation === conversation) this.#whenAwake(() => this.#conversation === conversation && happen());
  }

  #whenAwake(happen: () => void): void {
    const frozenMs = this.#frozenUntilMs - this.#world.clock.monotonicMs();
    if (frozenMs > 0) this.#world.clock.after(frozenMs, () => this.#whenAwake(happen));
    else happen();
  }

  #welcomed(kept: readonly BroughtLease[]): void {
    this.#isWelcome = true;
    this.#goOn(this.#held.list(), kept);
  }

  /** The coordinator leads the job from now on: tells it the job's leases of others. */
  #bring(jobId: string, epoch: number): void {
    const { siblings = [] } = this.#world;
    const brought = siblings.flatMap((sibling) => (sibling === this ? [] : sibling.#handOver(jobId, epoch)));
    if (brought.length === 0) return;
    let { creditBytes } = this.nature;
    for (const held of brought) {
      if (!held.isInPart) creditBytes += held.order.shard.costBytes;
      this.#held.add({ ...held, isBrought: true });
    }
    this.#report({ kind: 'NodeBrought', jobId, brought: brought.map(nameOf), creditBytes });
    this.#compute();
  }

  #handOver(jobId: string, epoch: number): HeldShard[] {
    const meant = this.#held.list().filter(({ order: { lease } }) => lease.jobId === jobId && lease.epoch < epoch);
    for (const held of meant) this.#held.drop(held);
    this.#compute();
    return meant;
  }

  #goOn(asked: readonly HeldShard[], kept: readonly BroughtLease[]): void {
    for (const held of asked) {
      const { lease } = held.order;
      const name = kept.find(({ jobId, shard, attempt }) => {
        return jobId === lease.jobId && shard === lease.shard && attempt === lease.attempt;
      });
      if (!name) {
        this.#held.drop(held);
        continue;
      }
      const { jobId, shard, attempt, epoch } = name;
      held.order = { ...held.order, lease: { jobId, shard, attempt, epoch } };
      held.isBrought = false;
      if (held.isInPart) this.#report({ kind: 'ShardInPart', lease: held.order.lease });
      if (held.answer) this.#answer(held, held.answer);
    }
    this.#compute();
  }

  #take(order: LeaseOrder): void {
    if (this.#state !== 'up' && this.#state !== 'draining') return;
    this.#held.add({ order, answer: undefined });
    this.#compute();
  }

  #forget(jobId: string, shards: number[]): void {
    for (const held of this.#held.list()) {
      const { lease } = held.order;
      if (lease.jobId === jobId && (shards.length === 0 || shards.includes(lease.shard))) this.#held.drop(held);
    }
    this.#compute();
  }

  #dropped(isFinal: boolean): void {
    if (isFinal || this.#state === 'draining') {
      this.#hangUp(false);
      this.#held.clear();
      this.#state = 'gone';
    } else this.#breakOff(false);
  }

  /** The connection is gone; the shards go on for a while. */
  #breakOff(isNoticed: boolean): void {
    this.#hangUp(isNoticed);
    if (this.#state === 'draining') {
      this.#state = 'gone';
      this.#held.clear();
      return;
    }
    this.#held.takeBack(this.#world.clock.monotonicMs() - recordedMs);
    const conversation = this.#conversation;
    this.#world.clock.after(keepMs, () => {
      if (this.#conversation === conversation) this.#held.clear();
    });
    this.#dialLater();
  }

  #hangUp(isNoticed: boolean): void {
    const link = this.#link;
    this.#conversation++;
    this.#link = undefined;
    this.#isWelcome = false;
    if (isNoticed && link) link.coordinator.tell(() => link.coordinator.dispatcher.nodes.detach(link.session));
  }

  #compute(): void {
    const held = this.#held.beginNext();
    if (!held) return;
    const { clock, jobs, random, referenceSlowness } = this.#world;
    const { shard, lease, verify } = held.order;
    const job = jobs.get(lease.jobId)!;
    const isLost = !verify && this.#deviceLosses < this.nature.deviceLosses;
    const isFailing = isLost || job.poison.has(lease.shard) || random.chance(this.nature.failures);
    const slowness = (verify ? referenceSlowness : 1) * (this.nature.stragglers.get(lease.shard) ?? 1);
    const failingMs = isLost ? this.nature.hangMs : 1;
    if (isLost) this.#deviceLosses++;
    // Failing takes little time.
    const isBlind = this.storage.unread(shard).length > 0;
    clock.after(isFailing || isBlind ? failingMs : (shard.costBytes / this.nature.bytesPerMs) * slowness, () => {
      this.#whenAwake(() => {
        if (!this.#held.end(held)) return;
        this.#finish(held, job, isFailing, isLost);
        this.#compute();
        if (this.#state === 'draining') this.#leaveWhenIdle();
      });
    });
  }

  #finish(held: HeldShard, job: SimulatedJob, isFailing: boolean, isDevice: boolean): void {
    const { lease, shard, verify } = held.order;
    if (job.killers.has(lease.shard) || this.nature.dies.has(lease.shard)) {
      this.crash();
      return;
    }
    if (isFailing) {
      const failure = { error: 'It cannot be computed', isOutput: false, isDevice };
      this.#answer(held, (named) => ({ kind: 'ShardFailed', lease: named, failure }));
      return;
    }
    this.#hasComputed = true;
    const errors = this.storage.unread(shard);
    if (errors.length > 0) {
      const bad = new Set(errors.map(({ source }) => source));
      const results = resultsOf(job, lease.shard).filter(({ source }) => !bad.has(source));
      const answer = answerOf(job, lease.shard, { results, errors, verify });
      this.#answer(held, (named) => ({ kind: 'ShardCompleted', lease: named, answer }));
      return;
    }
    const writes = shard.needs?.some((need) => need.startsWith('write'));
    const error = writes ? this.storage.whyNotWritten(held.order.job.scratch) : undefined;
    if (error) {
      const failure = { error, isOutput: true };
      this.#answer(held, (named) => ({ kind: 'ShardFailed', lease: named, failure }));
      return;
    }
    this.computedBytes += shard.costBytes;
    this.busyUntilMs = this.#world.clock.monotonicMs();
    const isLie = !verify && this.#world.random.chance(this.nature.lies);
    const find = job.changed.has(lease.shard) ? changedResultsOf : isLie ? wrongResultsOf : resultsOf;
    const answer = answerOf(job, lease.shard, { results: find(job, lease.shard), errors: [], verify });
    this.#write(held, (named) => ({ kind: 'ShardCompleted', lease: named, answer }));
  }

  /** Answers the shard once its part is written, which waits for others. */
  #write(held: HeldShard, answer: NonNullable<HeldShard['answer']>): void {
    const { partMs } = this.nature;
    if (partMs === 0 || held.order.verify) {
      this.#answer(held, answer);
      return;
    }
    held.isInPart = true;
    if (this.#isWelcome && !held.isBrought) this.#report({ kind: 'ShardInPart', lease: held.order.lease });
    this.#world.clock.after(this.#world.random.next() * partMs, () => {
      this.#whenAwake(() => {
        if (!this.#held.has(held)) return;
        this.#answer(held, answer);
        if (this.#state === 'draining') this.#leaveWhenIdle();
      });
    });
  }

  /**
   * Without a connection the answer waits for one; the answer to a brought shard waits until the coordinator adopts it.
   */
  #answer(held: HeldShard, answer: NonNullable<HeldShard['answer']>): void {
    held.answer = answer;
    if (!this.#isWelcome || held.isBrought) return;
    const report = answer(held.order.lease);
    if (report.kind === 'ShardCompleted' && !held.order.verify) this.#held.sent(held, this.#world.clock.monotonicMs());
    else this.#held.drop(held);
    this.#report(report);
  }

  /** A report arrives in its conversation, perhaps twice, after one to two latencies. */
  #report(report: NodeReport): void {
    const { clock, random } = this.#world;
    const link = this.#link;
    if (!link) return;
    const { latencyMs, duplicates } = this.nature;
    const times = random.chance(duplicates) ? 2 : 1;
    for (let i = 0; i < times; i++) {
      clock.after(latencyMs * (1 + random.next()), () => {
        link.coordinator.tell(() => link.coordinator.dispatcher.nodes.report(link.session, report));
      });
    }
  }

  #beat(): void {
    if (this.#isBeating) return;
    this.#isBeating = true;
    this.#world.clock.every(this.#world.reportWithinMs / 3, () => {
      if (this.#world.clock.monotonicMs() < this.#frozenUntilMs) return;
      this.#report({ kind: 'NodeReported' });
      // A coordinator that stands still answers nothing.
      this.#silentBeats = this.#link?.coordinator.isRunning === false ? this.#silentBeats + 1 : 0;
      if (this.#silentBeats > 3) this.#breakOff(false);
    });
  }
}

const nameOf = ({ order: { lease, verify }, isInPart = false }: HeldShard): BroughtLease => {
  return { ...lease, verify, inPart: isInPart };
};
