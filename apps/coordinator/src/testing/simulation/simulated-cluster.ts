import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { AcceptedJob } from '@halogrid/jobs/accepted-job';
import {
  type AnsweredShards,
  FolderLogs,
  type JobResults,
  type Ledger,
  type LogLedger,
  RegistryMemory,
  type SettledSources,
} from '@halogrid/ledger';
import { settledDigest, settledSources, shapesOf } from '@halogrid/ledger/testing-memory-parts';
import { createLog } from '@halogrid/service/log';
import { createRegistry } from '@halogrid/service/metrics';
import type { Dispatcher } from '../../dispatch/dispatcher.ts';
import { createMetrics } from '../../dispatch/work-metrics.ts';
import type { FinishedOutput } from '../../output/finalise.ts';
import { LostPartError } from '../../output/lost-part-error.ts';
import type { TablesEvents, TablesOutput } from '../../output/tables-output.ts';
import { noTables } from '../no-tables.ts';
import { type MetricSums, sumMetrics } from './metric-sums.ts';
import type { NodeNature } from './node-nature.ts';
import { SeededRandom } from './seeded-random.ts';
import { type CoordinatorWorld, SimulatedCoordinator } from './simulated-coordinator.ts';
import { simulatedDisk } from './simulated-disk.ts';
import { simulatedEarlier } from './simulated-earlier.ts';
import { isFull, noRoom } from './simulated-files.ts';
import { acceptedJob, binCount, planOf, type SimulatedJob } from './simulated-job.ts';
import { SimulatedNode } from './simulated-node.ts';
import { settle, VirtualClock } from './virtual-clock.ts';

/** Makes the folder of a job's logs, and returns it. */
export function jobFolder(folder: string, out: string): string {
  const path = join(folder, basename(out));
  mkdirSync(path, { recursive: true });
  return path;
}

type Answered = AnsweredShards['shards'][number];

async function allAnswered(answered: (from: number, atMost: number) => Promise<AnsweredShards>): Promise<Answered[]> {
  const all: Answered[] = [];
  for (let from = 0; ; ) {
    const { next, shards } = await answered(from, 7);
    if (next === from) return all;
    all.push(...shards);
    from = next;
  }
}

/** More sources than any job has. */
const mostSources = 1000;

/** A run that takes longer than this many simulated hours will not end. */
const endlessMs = 24 * 3_600_000;

export const reportWithinMs = 3000;

/** Shared by all runs: each takes the difference since its start. */
const metrics = createMetrics(createRegistry('coordinator'));
const log = createLog('simulation', 'silent');

export interface ClusterOptions {
  seed: number;
  /** An empty folder for logs. */
  folder: string;
  /** Time that the ledger takes for a transaction. */
  commitMs?: number;
  referenceSlowness?: number;
}

/**
 * The real scheduler, dispatcher and ledger, with simulated nodes, on a virtual clock, in one process. A run depends
 * only on the seed: between two moments, all promises are waited for, the disk's too.
 */
export class SimulatedCluster {
  readonly clock = new VirtualClock();
  readonly random: SeededRandom;
  /** A random stream of its own, so that nodes do the same whatever tables meet. */
  readonly #ofTables: SeededRandom;
  readonly nodes: SimulatedNode[] = [];
  readonly jobs = new Map<string, SimulatedJob>();
  /** The results as they were written, by job. */
  readonly results = new Map<string, JobResults>();
  /** By job, for each shard, how many results a ledger acknowledged. */
  readonly commits = new Map<string, number[]>();
  /** How many parts, of all jobs together, are to be lost while results come or before the job is finished. */
  partLosses = 0;
  /** How often parts of shards were lost, by job. */
  readonly lost = new Map<string, number[]>();
  /** Parts that are missing. */
  readonly #missing = new Set<string>();
  /** Jobs whose output is written. */
  readonly #written = new Set<string>();
  /** How many coordinators were followed by another one. */
  followed = 0;
  readonly world: CoordinatorWorld;
  readonly #referenceSlowness: number;
  /** Jobs that clients have submitted. */
  readonly #submitted = new Set<string>();
  readonly #ended = new Set<string>();
  readonly #metricsBefore: Promise<MetricSums>;
  #leader: SimulatedCoordinator | undefined;
  /** The last coordinator that led. */
  #last!: SimulatedCoordinator;
  readonly #alive = new Set<SimulatedCoordinator>();
  readonly #endings: Promise<void>[] = [];
  #failure: unknown;

  private constructor({ seed, folder, commitMs = 0, referenceSlowness = 3 }: ClusterOptions) {
    this.random = new SeededRandom(seed);
    this.#ofTables = new SeededRandom(seed ^ 0x7ab1e);
    this.#referenceSlowness = referenceSlowness;
    // Reset, because its series end when nodes leave, so that no difference can be taken.
    metrics.wrongAnswers.reset();
    this.#metricsBefore = sumMetrics(metrics);
    this.world = {
      clock: this.clock,
      memory: new RegistryMemory(),
      commitMs,
      failure: undefined,
      logsOf: (jobId, { out }) => {
        const disk = simulatedDisk(async () => this.#checkRoom(out));
        return new FolderLogs(jobFolder(folder, out), jobId, disk);
      },
      work: {
        plan: (spec) => planOf([...this.jobs.values()].find((job) => acceptedJob(job).spec.out === spec.out)!),
        earlier: simulatedEarlier({
          clock: this.clock,
          seed,
          jobOf: (jobId) => this.jobs.get(jobId)!,
          checkRoom: (out) => this.#checkRoom(out),
        }),
        tables: (job, events) => this.#tables(job, events),
        finalise: (results, _pipeline, { until }) => until(() => this.#finalise(results)),
        lostShards: async (_, answered) => this.#missingOf(await allAnswered(answered)),
        abandon: async () => false,
        release: () => {},
      },
      outages: [],
      full: [],
      reportWithinMs,
      metrics,
      log,
      observe: (ledger) => this.#observed(ledger),
    };
  }

  static async create(options: ClusterOptions): Promise<SimulatedCluster> {
    const cluster = new SimulatedCluster(options);
    await cluster.lead();
    return cluster;
  }

  get dispatcher(): Dispatcher {
    return this.#last.dispatcher;
  }

  get ledger(): LogLedger {
    return this.#last.ledger;
  }

  /** Submits a job as a client does: as soon as there is a coordinator, unless the job is known. */
  submit(job: SimulatedJob): void {
    this.jobs.set(job.jobId, job);
    this.#submitted.add(job.jobId);
    if (this.#leader) this.#hand(this.#leader, job);
  }

  async cancel(jobId: string): Promise<void> {
    await this.dispatcher.jobs.cancel(jobId);
  }

  /** Adds a node from `atMs` on. */
  add(nature: NodeNature, atMs = 0): SimulatedNode {
    const { clock, random, jobs } = this;
    const leader = () => (this.#leader?.isRunning ? this.#leader : undefined);
    const { outages, full } = this.world;
    const given = { clock, random, leader, jobs, outages, full, reportWithinMs };
    const surroundings = { ...given, referenceSlowness: this.#referenceSlowness };
    const node = new SimulatedNode(nature, surroundings);
    this.nodes.push(node);
    clock.after(atMs, () => node.start());
    return node;
  }

  /** Kills the coordinator's process; another one starts `afterMs` later. */
  restart(afterMs: number): void {
    if (!this.#leader) return;
    this.#end(this.#leader);
    this.#leader = undefined;
    this.clock.after(afterMs, () => this.#follow());
  }

  /** The coordinator's process stands still. Another one leads after a time, and then the old one goes on. */
  failOver(afterMs: number, wakeAfterMs: number): void {
    const old = this.#leader;
    if (!old) return;
    old.pause();
    this.clock.after(afterMs, () => {
      this.#leader = undefined;
      this.#follow();
    });
    this.clock.after(wakeAfterMs, () => old.wake());
    // It ends at its next renewal, when it hears that another coordinator leads.
    this.clock.after(wakeAfterMs + 1000, () => this.#end(old));
  }

  /** Nothing can be written to the ledger for this long. */
  failStore(ms: number, failure = new Error('The disk is full')): void {
    this.world.failure = failure;
    this.clock.after(ms, () => {
      this.world.failure = undefined;
    });
  }

  /** Starts a coordinator, which goes on with the jobs of the one before. Rejects if the ledger is damaged. */
  async lead(): Promise<void> {
    const coordinator = await SimulatedCoordinator.start(this.world);
    this.#last = coordinator;
    this.#alive.add(coordinator);
    const { ledger, dispatcher } = coordinator;
    for (const { jobId, finishedMs } of (await ledger.listJobs()).reverse()) {
      if (finishedMs > 0) this.#ended.add(jobId);
      else await dispatcher.jobs.resume(acceptedJob(this.jobs.get(jobId)!));
    }
    this.#leader = coordinator;
    for (const jobId of this.#submitted) {
      if (!(await ledger.getJob(jobId))) this.#hand(coordinator, this.jobs.get(jobId)!);
    }
  }

  /** Lets time pass until `isSo` holds; calls `check` at every moment. Throws if it never holds. */
  async until(isSo: () => boolean, check: () => void = () => {}): Promise<void> {
    for (;;) {
      await settle();
      if (this.#failure) throw this.#failure;
      check();
      if (isSo()) return;
      if (!this.clock.step() || this.clock.monotonicMs() > endlessMs) {
        throw new Error(`Nothing comes of it any more: ${JSON.stringify(this.dispatcher.view.shards())} shards`);
      }
    }
  }

  /** Lets time pass until every job has ended. */
  async untilEnded(check?: () => void): Promise<void> {
    await this.until(() => this.#leader !== undefined && this.#ended.size === this.jobs.size, check);
  }

  async close(): Promise<void> {
    for (const coordinator of this.#alive) this.#end(coordinator);
    let isOver = false;
    const over = Promise.all(this.#endings).then(() => {
      isOver = true;
    });
    // Transactions under way still take their time.
    for (; !isOver; this.clock.step()) await settle();
    await over;
  }

  /** The metrics' sums of this run. */
  async counted(): Promise<MetricSums> {
    const [before, now] = [await this.#metricsBefore, await sumMetrics(metrics)];
    const keys = Object.keys(now) as (keyof MetricSums)[];
    return Object.fromEntries(keys.map((key) => [key, now[key] - before[key]])) as unknown as MetricSums;
  }

  #follow(): void {
    this.followed++;
    this.lead().catch((error: unknown) => {
      this.#failure = error;
    });
  }

  #end(coordinator: SimulatedCoordinator): void {
    this.#alive.delete(coordinator);
    for (const node of this.nodes) node.coordinatorDied(coordinator);
    this.#endings.push(coordinator.kill());
  }

  #hand({ dispatcher }: SimulatedCoordinator, job: SimulatedJob): void {
    // If the coordinator dies meanwhile, the client submits the job again.
    dispatcher.jobs.submit(acceptedJob(job)).catch(() => {});
  }

  #checkRoom(uri: string): void {
    if (isFull(this.world.full, uri, this.clock.monotonicMs())) throw noRoom();
  }

  /** Takes the results, and asserts that the histograms of all sources add up to the job's, for each pipeline. */
  async #finalise(results: JobResults): Promise<FinishedOutput> {
    const { jobId, spec, counts } = results.job;
    this.#checkRoom(spec.out);
    const settled = await results.settled(0, counts.sources);
    const lost = this.#losePart(jobId, settled);
    if (lost) throw lost;
    this.#written.add(jobId);
    const shapes = shapesOf(spec);
    for (const [part, { results: its }] of (results.parts ?? [{ results }]).entries()) {
      const sum = new Array<bigint>(binCount).fill(0n);
      let reasons = 0;
      for (const source of settledSources(settled, shapes, part)) {
        if (source.state === 'quarantined') reasons++;
        else for (let bin = 0; bin < binCount; bin++) sum[bin]! += BigInt(source.bins[bin]!);
      }
      if (reasons !== counts.quarantined) throw new Error(`${reasons} sources are told as quarantined`);
      if (sum.some((count, bin) => count !== its.bins[bin])) throw new Error('Histograms of sources were lost');
    }
    this.results.set(jobId, results);
    return { digest: settledDigest(spec, settled), captured: undefined };
  }

  /** Tables of a job, which only meet lost parts while results come. */
  #tables({ jobId }: AcceptedJob, { settled, failed }: TablesEvents): TablesOutput {
    let isOver = false;
    const look = async (): Promise<void> => {
      const { runs } = await settled(0, mostSources);
      // A part that is lost after everything was read is never met.
      if (isOver || this.#written.has(jobId)) return;
      const lost = this.#losePart(jobId, { runs });
      if (!lost) return;
      isOver = true;
      failed(lost);
    };
    return {
      ...noTables,
      advance: () => {
        if (isOver || this.partLosses === 0 || !this.#ofTables.chance(0.03)) return;
        this.clock.after(this.#ofTables.pick([1, 50, 700]), () => void look().catch(() => {}));
      },
      abort: async () => {
        isOver = true;
      },
    };
  }

  /** Loses some parts at once, if any are still to be lost. Returns the error of one missing part of the job. */
  #losePart(jobId: string, { runs }: Pick<SettledSources, 'runs'>): LostPartError | undefined {
    const answers = runs.flatMap((run): Answered[] =>
      run.kind === 'found' && run.shard !== undefined ? [{ shard: run.shard, found: run.found }] : [],
    );
    if (this.partLosses > 0 && answers.length > 0) {
      this.partLosses--;
      const losses = this.lost.get(jobId) ?? [];
      this.lost.set(jobId, losses);
      for (let i = this.#ofTables.pick([1, 1, 3, 20]); i > 0; i--) {
        const { shard, found } = this.#ofTables.pick(answers);
        if (!this.#missing.has(found.part)) losses[shard] = (losses[shard] ?? 0) + 1;
        this.#missing.add(found.part);
      }
    }
    const [shard] = this.#missingOf(answers);
    if (shard === undefined) return undefined;
    return new LostPartError({ message: `The part of shard ${shard} is gone`, shard, isFalse: false });
  }

  /** Shards whose parts are missing. */
  #missingOf(answers: readonly Answered[]): number[] {
    return answers.flatMap(({ shard, found }) => (this.#missing.has(found.part) ? [shard] : []));
  }

  /** The ledger, with notes of the shards that it accepts and the jobs that it ends. */
  #observed(ledger: Ledger): Ledger {
    const commit: Ledger['commit'] = async (shard) => {
      const outcome = await ledger.commit(shard);
      if (outcome === 'committed') this.#count(shard.jobId, shard.shard);
      return outcome;
    };
    const setState: Ledger['setState'] = async (jobId, state, at) => {
      await ledger.setState(jobId, state, at);
      if (state === 'complete' || state === 'failed' || state === 'cancelled') this.#ended.add(jobId);
    };
    const observed: Partial<Ledger> = { commit, setState };
    return new Proxy(ledger, {
      get: (target, name) => {
        const value = Reflect.get(observed, name) ?? Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  }

  #count(jobId: string, shard: number): void {
    const commits = this.commits.get(jobId) ?? [];
    commits[shard] = (commits[shard] ?? 0) + 1;
    this.commits.set(jobId, commits);
  }
}
