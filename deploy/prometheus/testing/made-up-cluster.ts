import { Hello, Lack } from '@halogrid/proto';
import { type ClusterName, type IncidentKind, jobMinutes, periodMinutes } from './incidents.ts';
import { MadeUpCoordinator, MadeUpNode, shardOf } from './made-up-process.ts';

/** Shards that a node does in a minute: enough to be busy all the time. */
const shardsAMinute = 60 / shardOf.seconds;
const steadyNodes = 3;
/** Minutes of each period in which a further node takes part, each time as a new process. */
const helper = { from: 10, to: 120 };

interface MadeUpJob {
  jobId: string;
  state: 'running' | 'complete' | 'failed';
  submittedMinute: number;
  shardsLeft: number;
}

/** A target of Prometheus. */
export interface Target {
  job: string;
  instance: string;
  isUp: boolean;
  registry: MadeUpNode['registry'];
  /** Whether it answers with halogrid's metrics. */
  hasOurs: boolean;
}

/** Incidents at a step: those under way, those that begin with it, and those that end with it. */
export interface StepIncidents {
  now: IncidentKind[];
  begun: IncidentKind[];
  over: IncidentKind[];
}

/** A leader and its standby, four nodes, and a job every three hours; a step is a minute. */
export class MadeUpCluster {
  readonly name: ClusterName;
  readonly #coordinators: MadeUpCoordinator[];
  readonly #nodes: MadeUpNode[];
  readonly #helper: MadeUpNode;
  readonly #jobs: MadeUpJob[] = [];
  #epoch = 1;
  #hidden: IncidentKind[] = [];
  #behindMs = 0;
  #isBlocked = false;
  #sharesCard = false;
  #isHelping = false;

  constructor(name: ClusterName) {
    this.name = name;
    const state = {
      nodes: () => this.#attached().map((node) => this.#viewOf(node)),
      shards: () => ({ ...this.#shards(), paused: 0 }),
      leasedBytes: () => new Map<string, number>(),
      jobNow: () => ({ waiting: this.#isBlocked ? 'No node can' : '' }),
    };
    const ledger = {
      ledJobs: () => this.#jobs,
      behind: () => ({ ms: this.#behindMs }),
    };
    this.#coordinators = ['a', 'b'].map((host) => new MadeUpCoordinator(`${host}.${name}:9464`, state, ledger));
    this.#nodes = Array.from({ length: steadyNodes }, (_, i) => new MadeUpNode(`node-${i}`, name));
    this.#helper = new MadeUpNode('helper', name);
    this.#coordinators[0]!.lead(this.#epoch, [...this.#nodes, this.#helper]);
  }

  /** Everything that Prometheus would scrape now. */
  targets(): Target[] {
    const hides = (kind: IncidentKind) => this.#hidden.includes(kind);
    const nodes =
      hides('nodes no targets') || hides('nodes leave')
        ? []
        : [...this.#nodes, ...(this.#isHelping ? [this.#helper] : [])];
    const coordinators = hides('coordinator no target') ? [] : this.#coordinators;
    return [...coordinators, ...nodes].map((process) => ({
      job: process.job,
      instance: process.instance,
      isUp: process.isUp,
      registry: process.registry,
      hasOurs: !(hides('metrics vanish') && process instanceof MadeUpCoordinator),
    }));
  }

  /** Simulates a minute. */
  step(minute: number, nowSeconds: number, { now, begun, over }: StepIncidents): void {
    this.#hidden = now;
    this.#submit(minute);
    this.#comeAndGo(minute % periodMinutes);
    for (const kind of begun) this.#begin(kind, minute);
    for (const kind of over) this.#end(kind);
    this.#behindMs = now.includes('ledger behind') ? 60_000 : 5;
    this.#isBlocked = now.includes('jobs blocked');
    this.#sharesCard = now.includes('card shared');
    this.#nodes[1]!.lacks = now.includes('node lacks a folder') ? 1 : 0;
    this.#coordinators[0]!.tokenEndsAt = nowSeconds + 86_400 * (now.includes('token ends') ? 10 : 90);
    this.#nodes[2]!.slowness = now.includes('node slows') ? 6 : 1;
    this.#coordinators[0]!.lagSeconds = now.includes('event loop lags') ? 1.5 : 0.02;
    const leader = this.#leader();
    if (leader && !now.includes('nodes hang')) this.#work(leader, minute, nowSeconds, now);
    for (const process of [...this.#coordinators, ...this.#nodes, this.#helper]) process.tick();
    this.#tellLeases();
  }

  #leader(): MadeUpCoordinator | undefined {
    return this.#coordinators.find(({ isUp, work }) => isUp && work);
  }

  #attached(): MadeUpNode[] {
    if (this.#hidden.includes('nodes leave')) return [];
    return [...this.#nodes, ...(this.#isHelping ? [this.#helper] : [])].filter(({ isUp }) => isUp);
  }

  #submit(minute: number): void {
    if (minute % periodMinutes !== 0) return;
    const shardsLeft = Math.floor((steadyNodes + 0.7) * shardsAMinute * jobMinutes);
    this.#jobs.push({ jobId: String(minute), state: 'running', submittedMinute: minute, shardsLeft });
  }

  #comeAndGo(minuteOfPeriod: number): void {
    if (minuteOfPeriod === helper.from) this.#helper.start();
    this.#isHelping = minuteOfPeriod >= helper.from && minuteOfPeriod < helper.to;
  }

  #begin(kind: IncidentKind, minute: number): void {
    const { work } = this.#leader()!;
    if (kind === 'job fails') {
      this.#jobs.push({ jobId: `${minute}`, state: 'failed', submittedMinute: minute, shardsLeft: 0 });
      work!.jobsEnded.inc({ state: 'failed' });
    } else if (kind === 'node dies') {
      this.#nodes[0]!.isUp = false;
      work!.nodesLost.inc();
      work!.leaseExpirations.inc(2);
      work!.shardAttempts.inc({ reason: 'lost' }, 2);
    } else if (kind === 'device lost') this.#nodes[1]!.metrics.deviceLost.inc({ device: 'gpu' });
    else if (kind === 'wrong answer') work!.wrongAnswers.inc({ node: this.#nodes[2]!.name });
    else if (kind === 'nobody leads') this.#leader()!.isUp = false;
    else if (kind === 'coordinator restarts' || kind === 'idle coordinator restarts') {
      const leader = this.#leader()!;
      leader.start();
      leader.lead(++this.#epoch, this.#attached());
    }
  }

  #end(kind: IncidentKind): void {
    if (kind === 'node dies') this.#nodes[0]!.start();
    if (kind !== 'nobody leads') return;
    const dead = this.#coordinators.find(({ isUp }) => !isUp)!;
    this.#coordinators.find(({ isUp }) => isUp)!.lead(++this.#epoch, this.#attached());
    dead.start();
  }

  #work(leader: MadeUpCoordinator, minute: number, nowSeconds: number, now: IncidentKind[]): void {
    leader.searched();
    for (const node of this.#attached()) {
      for (let done = 0; done < shardsAMinute / node.slowness; done++) {
        const job = this.#jobs.find(({ shardsLeft }) => shardsLeft > 0);
        if (!job) return;
        job.shardsLeft--;
        node.computed();
        const waitedSeconds = 60 * (minute - job.submittedMinute) + done;
        leader.merged(waitedSeconds, nowSeconds, now.includes('damaged inputs') ? shardOf.frames / 2 : 0);
        if (job.shardsLeft > 0) continue;
        job.state = 'complete';
        leader.work!.jobsEnded.inc({ state: 'complete' });
      }
    }
    if (!now.includes('nodes flap')) return;
    const lost = (this.#attached().length * shardsAMinute) / 4;
    leader.work!.nodesLost.inc();
    leader.work!.leaseExpirations.inc(lost);
    leader.work!.shardAttempts.inc({ reason: 'lost' }, lost);
  }

  #shards(): { queued: number; leased: number; done: number } {
    const open = this.#jobs.reduce((sum, { shardsLeft }) => sum + shardsLeft, 0);
    const leased = Math.min(open, 4 * this.#attached().length);
    return { queued: open - leased, leased, done: 0 };
  }

  #tellLeases(): void {
    const isAttached = this.#leader() !== undefined;
    for (const node of [...this.#nodes, this.#helper]) {
      const leases = isAttached && this.#shards().leased > 0 ? 4 : 0;
      node.metrics.attached.set(isAttached ? 1 : 0);
      node.metrics.leases.set(leases);
      node.metrics.stagingBytes.set(leases * shardOf.frames * shardOf.framePixels);
    }
  }

  #viewOf({ name, lacks }: MadeUpNode) {
    const uuid = this.#sharesCard ? 'GPU-1' : `GPU-${name}`;
    return {
      hello: Hello.fromPartial({ name, device: { gpu: { uuid } } }),
      lacks: Array.from({ length: lacks }, () => Lack.fromPartial({ need: 'read file:///data' })),
      isDraining: false,
      leasedBytes: 4 * shardOf.frames * shardOf.framePixels,
    };
  }
}
