import { FolderLogs, type JobRecord, type JobResults, type Ledger, readRecord } from '@halogrid/ledger';
import { settledDigest } from '@halogrid/ledger/testing-memory-parts';
import { SharesMemory } from '@halogrid/ledger/testing-shared-memory-registry';
import { createLog } from '@halogrid/service/log';
import { createRegistry } from '@halogrid/service/metrics';
import { createMetrics } from '../../dispatch/work-metrics.ts';
import { noTables } from '../no-tables.ts';
import type { NodeNature } from './node-nature.ts';
import { SeededRandom } from './seeded-random.ts';
import { jobFolder } from './simulated-cluster.ts';
import { type CoordinatorWorld, SimulatedCoordinator } from './simulated-coordinator.ts';
import { simulatedDisk } from './simulated-disk.ts';
import { simulatedEarlier } from './simulated-earlier.ts';
import { acceptedJob, planOf, type SimulatedJob } from './simulated-job.ts';
import { SimulatedNode } from './simulated-node.ts';
import { settle, VirtualClock } from './virtual-clock.ts';

/** A run that takes longer than this many simulated minutes will not end. */
const endlessMs = 30 * 60_000;
const reportWithinMs = 3000;
const log = createLog('simulation', 'silent');

/**
 * Several coordinators that share one registry: the real division of jobs, and the real dispatcher, scheduler and
 * ledger of each, on a virtual clock. Each conversation of a node is a simulated node of its own.
 */
export class SimulatedLeaders {
  readonly clock = new VirtualClock();
  readonly random: SeededRandom;
  readonly memory = new SharesMemory();
  readonly jobs = new Map<string, SimulatedJob>();
  readonly results = new Map<string, JobResults>();
  /** By job, for each shard, how many results a ledger acknowledged. */
  readonly commits = new Map<string, number[]>();
  /** Commits and ends of jobs with their times, in order. */
  readonly history: string[] = [];
  readonly nodes: SimulatedNode[] = [];
  /** The coordinators, by place; undefined while none runs there. */
  readonly #places: (SimulatedCoordinator | undefined)[] = [];
  readonly #submitted = new Map<string, number>();
  readonly #ended = new Map<string, JobRecord>();
  readonly #endings: Promise<void>[] = [];
  readonly #world: CoordinatorWorld;

  constructor(options: { seed: number; folder: string; commitMs: number }) {
    const { seed, folder, commitMs } = options;
    this.random = new SeededRandom(seed);
    // A random stream of its own, so that nodes do the same whatever the disk does.
    const ofDisk = new SeededRandom(seed ^ 0xd15c);
    const disk = simulatedDisk(() => {
      const ms = ofDisk.pick([0, 0, 1, 7]);
      return ms > 0 ? new Promise((resolve) => this.clock.after(ms, resolve)) : Promise.resolve();
    });
    this.#world = {
      clock: this.clock,
      memory: this.memory,
      commitMs,
      failure: undefined,
      logsOf: (jobId, { out }) => new FolderLogs(jobFolder(folder, out), jobId, disk),
      work: {
        plan: (spec) => planOf([...this.jobs.values()].find((job) => acceptedJob(job).spec.out === spec.out)!),
        earlier: simulatedEarlier({
          clock: this.clock,
          seed,
          jobOf: (jobId) => this.jobs.get(jobId)!,
          checkRoom: () => {},
        }),
        tables: () => noTables,
        finalise: async (results) => {
          const { jobId, spec, counts } = results.job;
          const digest = settledDigest(spec, await results.settled(0, counts.sources));
          this.results.set(jobId, results);
          return { digest, captured: undefined };
        },
        abandon: async () => false,
        release: () => {},
      },
      outages: [],
      full: [],
      reportWithinMs,
      metrics: createMetrics(createRegistry('coordinator')),
      log,
      observe: (ledger) => this.#observed(ledger),
      acceptedJob: (jobId) => acceptedJob(this.jobs.get(jobId)!),
      fenced: (coordinator) => this.#fenced(coordinator),
    };
  }

  /** Starts a coordinator at this place, counted from 0. */
  async start(place: number): Promise<void> {
    const coordinator = await SimulatedCoordinator.start(this.#world);
    this.#places[place] = coordinator;
    for (const [jobId, at] of this.#submitted) {
      // If the coordinator died before the job was known, the client submits it again.
      if (at === place && !this.memory.jobs.get(jobId)) this.#hand(coordinator, jobId);
    }
  }

  submit(job: SimulatedJob, place: number): void {
    this.jobs.set(job.jobId, job);
    this.#submitted.set(job.jobId, place);
    const coordinator = this.#places[place];
    if (coordinator) this.#hand(coordinator, job.jobId);
  }

  /** Adds a node with a conversation with each of these places, which divide its credit. */
  add(nature: NodeNature, places: number): void {
    const siblings: SimulatedNode[] = [];
    for (let place = 0; place < places; place++) {
      const { clock, random, jobs } = this;
      const { outages, full } = this.#world;
      const leader = () => (this.#places[place]?.isRunning ? this.#places[place] : undefined);
      const given = { clock, random, leader, jobs, outages, full, siblings, reportWithinMs };
      const surroundings = { ...given, referenceSlowness: 3 };
      const node = new SimulatedNode(nature, surroundings);
      siblings.push(node);
      this.nodes.push(node);
      node.start();
    }
  }

  /** Kills the process at this place; another one starts `againMs` later, or none if undefined. */
  kill(place: number, againMs: number | undefined): void {
    const coordinator = this.#places[place];
    if (!coordinator) return;
    this.#end(coordinator);
    if (againMs !== undefined) this.clock.after(againMs, () => void this.start(place));
  }

  /** The process at this place stands still, and goes on after `ms`. */
  pause(place: number, ms: number): void {
    const coordinator = this.#places[place];
    coordinator?.pause();
    this.clock.after(ms, () => coordinator?.wake());
  }

  /** Nothing can be read from or written to the registry for this long. */
  failStore(ms: number): void {
    this.#world.failure = new Error('The database is away');
    this.clock.after(ms, () => {
      this.#world.failure = undefined;
    });
  }

  /** Lets time pass until every job has ended. */
  async untilEnded(): Promise<void> {
    for (;;) {
      await settle();
      this.#findEnded();
      if (this.#ended.size === this.jobs.size) return;
      if (!this.clock.step() || this.clock.monotonicMs() > endlessMs) {
        const open = [...this.jobs.keys()].filter((jobId) => !this.#ended.has(jobId));
        throw new Error(`Nothing comes of ${open.join(', ')} any more`);
      }
    }
  }

  record(jobId: string): JobRecord {
    return this.#ended.get(jobId)!;
  }

  async close(): Promise<void> {
    for (const coordinator of this.#places) if (coordinator) this.#end(coordinator);
    let isOver = false;
    const over = Promise.all(this.#endings).then(() => {
      isOver = true;
    });
    for (; !isOver; this.clock.step()) await settle();
    await over;
  }

  /**
   * Takes ends of jobs from the registry: a coordinator may be killed after it wrote an end and before it reported it.
   */
  #findEnded(): void {
    for (const { jobId, leader, status, spec } of this.memory.jobs.all()) {
      if (leader !== undefined || this.#ended.has(jobId)) continue;
      const record = readRecord(status, JSON.parse(spec));
      this.#ended.set(jobId, record);
      this.#note(`${jobId} ${record.state}`);
    }
  }

  #hand({ dispatcher }: SimulatedCoordinator, jobId: string): void {
    dispatcher.jobs.submit(acceptedJob(this.jobs.get(jobId)!)).catch(() => {});
  }

  #end(coordinator: SimulatedCoordinator): void {
    const place = this.#places.indexOf(coordinator);
    if (place >= 0) this.#places[place] = undefined;
    for (const node of this.nodes) node.coordinatorDied(coordinator);
    this.#endings.push(coordinator.kill());
  }

  /** The coordinator's supervisor starts another one. */
  #fenced(coordinator: SimulatedCoordinator): void {
    const place = this.#places.indexOf(coordinator);
    if (place < 0) return;
    this.#end(coordinator);
    this.clock.after(500, () => void this.start(place));
  }

  #note(what: string): void {
    this.history.push(`${this.clock.monotonicMs()} ms: ${what}`);
  }

  #observed(ledger: Ledger): Ledger {
    const commit: Ledger['commit'] = async (shard) => {
      const outcome = await ledger.commit(shard);
      if (outcome !== 'committed') return outcome;
      const commits = this.commits.get(shard.jobId) ?? [];
      commits[shard.shard] = (commits[shard.shard] ?? 0) + 1;
      this.commits.set(shard.jobId, commits);
      this.#note(`${shard.jobId}/${shard.shard} of ${shard.node}`);
      return outcome;
    };
    const observed: Partial<Ledger> = { commit };
    return new Proxy(ledger, {
      get: (target, name) => {
        const value = Reflect.get(observed, name) ?? Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }
}
