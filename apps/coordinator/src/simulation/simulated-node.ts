import { Hello } from '@halogrid/proto';
import type { Dispatcher } from '../dispatcher.ts';
import type { LeaseOrder, NodeReport } from '../node-session.ts';
import type { SeededRandom } from './seeded-random.ts';
import { resultsOf, type SimulatedJob, wrongResultsOf } from './simulated-job.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** What a node is like. */
export interface NodeNature {
  name: string;
  creditBytes: number;
  bytesPerMs: number;
  /** One way, at least; up to twice as long, so that reports overtake one another. */
  latencyMs: number;
  /** Part of its reports that arrive twice. */
  duplicates: number;
  /** Its device finds wrong results for this part of the shards. */
  lies: number;
  /** It fails this part of the shards at once. */
  failures: number;
  /** Shards of a job that take it this much longer. */
  stragglers: ReadonlyMap<number, number>;
}

export const soundNature = {
  creditBytes: 1000,
  bytesPerMs: 1,
  latencyMs: 1,
  duplicates: 0,
  lies: 0,
  failures: 0,
  stragglers: new Map<number, number>(),
} satisfies Omit<NodeNature, 'name'>;

export interface NodeSurroundings {
  clock: VirtualClock;
  random: SeededRandom;
  dispatcher: Dispatcher;
  jobs: ReadonlyMap<string, SimulatedJob>;
  reportWithinMs: number;
  /** Times that the reference takes of the device. */
  referenceSlowness: number;
}

/** How long a node whose connection broke waits, and a process that died takes to be there again. */
const redialMs = 250;
const restartMs = 2000;

/** A node with one device that computes one shard at a time, as the coordinator sees it. */
export class SimulatedNode {
  readonly nature: NodeNature;
  /** Bytes of cost it computed, whatever became of them. */
  computedBytes = 0;
  /** When it last computed something. */
  busyUntilMs = 0;
  readonly #world: NodeSurroundings;
  /** Counts the processes it has been: a restarted node has another id. */
  #life = 1;
  /** Counts its conversations; what belongs to an earlier one is void. */
  #conversation = 0;
  #session: number | undefined;
  #queue: LeaseOrder[] = [];
  #current: LeaseOrder | undefined;
  #frozenUntilMs = 0;
  #isBeating = false;
  #state: 'down' | 'up' | 'draining' | 'gone' = 'down';

  constructor(nature: NodeNature, world: NodeSurroundings) {
    this.nature = nature;
    this.#world = world;
  }

  get nodeId(): string {
    return `${this.nature.name}-${this.#life}`;
  }

  get isGone(): boolean {
    return this.#state === 'gone';
  }

  /** Dials, and is attached at once. */
  start(): void {
    if (this.#state !== 'down') return;
    this.#state = 'up';
    this.#dial();
    this.#beat();
  }

  /** The process ends without a word; the coordinator hears of it unless the network is gone, too. */
  crash(isNoticed = true, comesBack = true): void {
    if (this.#state !== 'up') return;
    this.#state = 'down';
    this.#hangUp(isNoticed);
    this.#life++;
    if (!comesBack) this.#state = 'gone';
    else this.#world.clock.after(restartMs, () => this.start());
  }

  /** The connection breaks; the node dials again, with empty hands. Reports on their way are lost. */
  cut(): void {
    if (this.#state !== 'up') return;
    this.#hangUp(true);
    this.#world.clock.after(redialMs, () => this.#dial());
  }

  /** The process stands still, as with SIGSTOP, and goes on later. */
  freeze(ms: number): void {
    this.#frozenUntilMs = this.#world.clock.monotonicMs() + ms;
  }

  /** The process is asked to end within `graceMs`: what it cannot finish by then it hands back. */
  drain(graceMs: number): void {
    if (this.#state !== 'up' || this.#session === undefined) return;
    this.#state = 'draining';
    this.#report({ kind: 'NodeDraining' });
    this.#world.clock.after(graceMs, () => this.#handBack());
    this.#leaveWhenIdle();
  }

  #handBack(): void {
    if (this.#state !== 'draining') return;
    for (const { lease } of this.#orders()) this.#report({ kind: 'ShardReturned', lease });
    this.#queue = [];
    this.#current = undefined;
    this.#leaveWhenIdle();
  }

  #leaveWhenIdle(): void {
    // A lease that crossed the announcement arrives within two ways.
    const conversation = this.#conversation;
    this.#world.clock.after(8 * this.nature.latencyMs, () => {
      if (this.#state !== 'draining' || this.#conversation !== conversation || this.#orders().length > 0) return;
      this.#state = 'gone';
      this.#hangUp(true);
    });
  }

  #orders(): LeaseOrder[] {
    return this.#current ? [this.#current, ...this.#queue] : this.#queue;
  }

  #dial(): void {
    if (this.#state !== 'up') return;
    const conversation = ++this.#conversation;
    const { name, creditBytes } = this.nature;
    const hello = Hello.fromPartial({
      nodeId: this.nodeId,
      name,
      creditBytes,
      device: { kind: 'gpu', name: 'simulated' },
    });
    /** Orders come after the latency, to the conversation they belong to, and in their order. */
    const arrives = (happen: () => void): void => {
      this.#world.clock.after(this.nature.latencyMs, () => this.#awake(conversation, happen));
    };
    this.#session = this.#world.dispatcher.attach(hello, {
      lease: (order) => arrives(() => this.#take(order)),
      recall: (jobId, shards) => arrives(() => this.#forget(jobId, shards)),
      drop: (_reason, isFinal) => arrives(() => this.#dropped(isFinal)),
    });
  }

  /** Does something in this conversation, unless it is over; when the process runs again where it stands still. */
  #awake(conversation: number, happen: () => void): void {
    if (this.#conversation !== conversation) return;
    const frozenMs = this.#frozenUntilMs - this.#world.clock.monotonicMs();
    if (frozenMs > 0) this.#world.clock.after(frozenMs, () => this.#awake(conversation, happen));
    else happen();
  }

  #take(order: LeaseOrder): void {
    if (this.#state !== 'up' && this.#state !== 'draining') return;
    this.#queue.push(order);
    this.#compute();
  }

  #forget(jobId: string, shards: number[]): void {
    const isMeant = ({ lease }: LeaseOrder): boolean =>
      lease.jobId === jobId && (shards.length === 0 || shards.includes(lease.shard));
    this.#queue = this.#queue.filter((order) => !isMeant(order));
    if (this.#current && isMeant(this.#current)) this.#current = undefined;
    this.#compute();
  }

  #dropped(isFinal: boolean): void {
    this.#hangUp(false);
    if (isFinal || this.#state === 'draining') this.#state = 'gone';
    else this.#world.clock.after(redialMs, () => this.#dial());
  }

  #hangUp(isNoticed: boolean): void {
    const session = this.#session;
    this.#conversation++;
    this.#session = undefined;
    this.#queue = [];
    this.#current = undefined;
    if (isNoticed && session !== undefined) this.#world.dispatcher.detach(session);
  }

  #compute(): void {
    const order = this.#current ? undefined : this.#queue.shift();
    if (!order) return;
    this.#current = order;
    const { clock, jobs, random, referenceSlowness } = this.#world;
    const { shard, lease, isCheck } = order;
    const job = jobs.get(lease.jobId)!;
    const isFailing = job.poison.has(lease.shard) || random.chance(this.nature.failures);
    const slowness = (isCheck ? referenceSlowness : 1) * (this.nature.stragglers.get(lease.shard) ?? 1);
    const ms = isFailing ? 1 : (shard.costBytes / this.nature.bytesPerMs) * slowness;
    const conversation = this.#conversation;
    clock.after(ms, () => {
      this.#awake(conversation, () => {
        if (this.#current !== order) return;
        this.#current = undefined;
        this.#finish(order, job, isFailing);
        this.#compute();
        if (this.#state === 'draining') this.#leaveWhenIdle();
      });
    });
  }

  #finish({ lease, shard, isCheck }: LeaseOrder, job: SimulatedJob, isFailing: boolean): void {
    if (job.killers.has(lease.shard)) {
      this.crash();
      return;
    }
    if (isFailing) {
      this.#report({ kind: 'ShardFailed', lease, failure: { error: 'It cannot be computed', isOutput: false } });
      return;
    }
    this.computedBytes += shard.costBytes;
    this.busyUntilMs = this.#world.clock.monotonicMs();
    const isLie = !isCheck && this.#world.random.chance(this.nature.lies);
    const results = (isLie ? wrongResultsOf : resultsOf)(job, lease.shard);
    const answer = { results, errors: [], stageSeconds: {}, inputBytes: 0 };
    this.#report({ kind: 'ShardCompleted', lease, answer });
  }

  /** A report arrives in its conversation, perhaps twice, after the latency and as much again at most. */
  #report(report: NodeReport): void {
    const { clock, random, dispatcher } = this.#world;
    const session = this.#session;
    if (session === undefined) return;
    const { latencyMs, duplicates } = this.nature;
    const times = random.chance(duplicates) ? 2 : 1;
    for (let i = 0; i < times; i++) {
      clock.after(latencyMs * (1 + random.next()), () => dispatcher.report(session, report));
    }
  }

  #beat(): void {
    if (this.#isBeating) return;
    this.#isBeating = true;
    this.#world.clock.every(this.#world.reportWithinMs / 3, () => {
      if (this.#world.clock.monotonicMs() >= this.#frozenUntilMs) this.#report({ kind: 'NodeReported' });
    });
  }
}
