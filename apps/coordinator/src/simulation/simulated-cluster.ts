import { createLog, createRegistry } from '@halogrid/service';
import { Dispatcher } from '../dispatcher.ts';
import type { JobResults, Ledger } from '../ledger/ledger.ts';
import { createMetrics } from '../metrics.ts';
import { SeededRandom } from './seeded-random.ts';
import { acceptedJob, planOf, type SimulatedJob } from './simulated-job.ts';
import { type NodeNature, SimulatedNode } from './simulated-node.ts';
import { VirtualClock } from './virtual-clock.ts';

/** A run that takes longer than this many simulated hours will not end. */
const endlessMs = 24 * 3_600_000;

export const reportWithinMs = 3000;

/** Shared by all runs, which read differences off it. */
const metrics = createMetrics(createRegistry('coordinator'));
const log = createLog('simulation', 'silent');

export interface ClusterOptions {
  seed: number;
  /** Without jobs; it is closed with the cluster. */
  ledger: Ledger;
  /** Time that the ledger takes for a commit. */
  commitMs?: number;
  referenceSlowness?: number;
}

/**
 * The real scheduler, dispatcher and ledger, with simulated nodes, on a virtual clock, in one process. What happens depends
 * on the seed alone: between two moments everything that is promised is waited for, the disk too.
 */
export class SimulatedCluster {
  readonly clock = new VirtualClock();
  readonly random: SeededRandom;
  readonly ledger: Ledger;
  readonly dispatcher: Dispatcher;
  readonly nodes: SimulatedNode[] = [];
  readonly jobs = new Map<string, SimulatedJob>();
  readonly results = new Map<string, JobResults>();
  /** Accepted results a shard, by job. */
  readonly commits = new Map<string, number[]>();
  readonly #referenceSlowness: number;
  readonly #ended = new Set<string>();
  readonly #metricsBefore: Promise<MetricSums>;
  /** Calls of the ledger that are not answered yet, other than those that wait for virtual time. */
  #pending = 0;

  constructor({ seed, ledger, commitMs = 0, referenceSlowness = 3 }: ClusterOptions) {
    this.random = new SeededRandom(seed);
    this.#referenceSlowness = referenceSlowness;
    // Its series end when nodes leave, so that there is no difference to take.
    metrics.wrongAnswers.reset();
    this.#metricsBefore = sumMetrics();
    this.ledger = ledger;
    this.dispatcher = new Dispatcher({
      ledger: this.#observed(commitMs),
      work: {
        plan: (spec) => planOf([...this.jobs.values()].find((job) => acceptedJob(job).spec.out === spec.out)!),
        features: () => undefined,
        finalise: async (results) => void this.results.set(results.job.jobId, results),
        abandon: async () => {},
        release: () => {},
      },
      clock: this.clock,
      reportWithinMs,
      metrics,
      log,
      every: (ms, task) => this.clock.every(ms, task),
    });
  }

  submit(job: SimulatedJob): void {
    this.jobs.set(job.jobId, job);
    void this.dispatcher.submit(acceptedJob(job));
  }

  /** A node that is there from `atMs` on. */
  add(nature: NodeNature, atMs = 0): SimulatedNode {
    const { clock, random, dispatcher, jobs } = this;
    const surroundings = {
      clock,
      random,
      dispatcher,
      jobs,
      reportWithinMs,
      referenceSlowness: this.#referenceSlowness,
    };
    const node = new SimulatedNode(nature, surroundings);
    this.nodes.push(node);
    clock.after(atMs, () => node.start());
    return node;
  }

  /** Lets time pass until that is so; `check` is called at every moment. Throws where it never comes. */
  async until(isSo: () => boolean, check: () => void = () => {}): Promise<void> {
    for (;;) {
      await this.#settle();
      check();
      if (isSo()) return;
      if (!this.clock.step() || this.clock.monotonicMs() > endlessMs) {
        throw new Error(`Nothing comes of it any more: ${JSON.stringify(this.dispatcher.shards())} shards`);
      }
    }
  }

  /** Lets time pass until every job has ended. */
  async untilEnded(check?: () => void): Promise<void> {
    await this.until(() => this.#ended.size === this.jobs.size, check);
  }

  async close(): Promise<void> {
    await this.dispatcher.close();
    await this.ledger.close();
  }

  /** What the metrics counted in this run. */
  async counted(): Promise<MetricSums> {
    const [before, now] = [await this.#metricsBefore, await sumMetrics()];
    const difference = (key: keyof MetricSums): number => now[key] - before[key];
    return {
      committed: difference('committed'),
      quarantined: difference('quarantined'),
      leases: difference('leases'),
      mismatches: difference('mismatches'),
      wrongAnswers: difference('wrongAnswers'),
      setAside: difference('setAside'),
      copies: difference('copies'),
    };
  }

  /** Everything that is promised now comes, before time passes. */
  async #settle(): Promise<void> {
    do await new Promise<void>((resolve) => setImmediate(resolve));
    while (this.#pending > 0);
  }

  /** The ledger, with its answers counted until they come, and what it accepted and ended. */
  #observed(commitMs: number): Ledger {
    const { ledger } = this;
    const commit: Ledger['commit'] = async (shard) => {
      if (commitMs > 0) await new Promise<void>((resolve) => this.clock.after(commitMs, resolve));
      const outcome = await this.#track(ledger.commit(shard));
      if (outcome === 'committed') this.#count(shard.jobId, shard.shard);
      return outcome;
    };
    const setState: Ledger['setState'] = async (jobId, state, at) => {
      await this.#track(ledger.setState(jobId, state, at));
      if (state === 'complete' || state === 'failed' || state === 'cancelled') this.#ended.add(jobId);
    };
    const observed: Partial<Ledger> = { commit, setState };
    return new Proxy(ledger, {
      get: (target, name) => {
        const value = Reflect.get(observed, name) ?? Reflect.get(target, name);
        if (typeof value !== 'function' || Object.hasOwn(observed, name)) return value;
        return (...args: unknown[]) => {
          const answer: unknown = Reflect.apply(value, target, args);
          return answer instanceof Promise ? this.#track(answer) : answer;
        };
      },
    });
  }

  async #track<T>(call: Promise<T>): Promise<T> {
    this.#pending++;
    try {
      return await call;
    } finally {
      this.#pending--;
    }
  }

  #count(jobId: string, shard: number): void {
    const commits = this.commits.get(jobId) ?? [];
    commits[shard] = (commits[shard] ?? 0) + 1;
    this.commits.set(jobId, commits);
  }
}

export interface MetricSums {
  committed: number;
  quarantined: number;
  leases: number;
  mismatches: number;
  wrongAnswers: number;
  setAside: number;
  copies: number;
}

async function sumMetrics(): Promise<MetricSums> {
  const sum = async (
    metric: { get(): Promise<{ values: { value: number; labels: object }[] }> },
    labels: Record<string, string> = {},
  ): Promise<number> => {
    const { values } = await metric.get();
    const meant = values.filter((value) => Object.entries(labels).every(([k, v]) => Object(value.labels)[k] === v));
    return meant.reduce((total, { value }) => total + value, 0);
  };
  return {
    committed: await sum(metrics.shardsFinished, { outcome: 'ok' }),
    quarantined: await sum(metrics.shardsFinished, { outcome: 'quarantined' }),
    leases: await sum(metrics.shardAttempts),
    mismatches: await sum(metrics.mismatches),
    wrongAnswers: await sum(metrics.wrongAnswers),
    setAside: await sum(metrics.nodesSetAside),
    copies: await sum(metrics.shardAttempts, { reason: 'straggler' }),
  };
}
