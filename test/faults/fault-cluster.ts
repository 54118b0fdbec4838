import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { JobStatus } from '@halogrid/proto';
import { eventually, waitLimitMs, within } from '@halogrid/testing';
import { Cluster, type ClusterNode, startNode } from '../cluster.ts';
import { hasProc } from '../process-list.ts';
import { readMetrics } from '../read-metrics.ts';
import { readJson } from '../results.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { TcpProxy } from './tcp-proxy.ts';
import { cut, type Outcome, readOutcome, type Work, writeWork } from './work.ts';

export const skip = hasProc ? false : 'which process is the node is told by /proc';

/** Lets about fifty leases a second reach a node, so that a job lasts long enough to be disturbed. */
export const slowly = { down: { bytesPerSecond: 20_000 } };

/** Holds back a node's answers: it computes, but the coordinator does not hear of it. */
export const silenced = { up: { isHeld: true } };

/** Holds back leases: the coordinator gives them to the node, which does not hear of them. */
export const unleased = { down: { isHeld: true } };

/** A busy machine must not make a node hand back shards that it would finish on another one. */
const drainSlowly = ['--drain-timeout', String(waitLimitMs / 1000)];

/** A node with its own proxy to the coordinator. */
export interface ProxiedNode extends ClusterNode {
  readonly proxy: TcpProxy;
}

/** Options of a node that differs from the others. */
export interface NodeStart {
  /** Environment variables of its process. */
  env?: Record<string, string>;
  /** cpu unless given. */
  device?: string;
  /** Further arguments of its command. */
  options?: readonly string[];
}

export interface StartedJob {
  jobId: string;
  out: string;
  /** The coordinator's metrics before the job. */
  before: Map<string, number>;
}

/** A cluster in which every node has its own network, and a piece of work with its undisturbed outcome. */
export class FaultCluster {
  readonly cluster: Cluster;
  readonly work: Work;
  undisturbed!: Outcome;
  readonly #nodes = new Map<string, ProxiedNode>();
  readonly #folder: string;
  #jobs = 0;
  #later = 0;

  private constructor(cluster: Cluster, folder: string, work: Work) {
    this.cluster = cluster;
    this.#folder = folder;
    this.work = work;
  }

  /** Starts a coordinator with further options, and nodes with these names, which do the work once without a fault. */
  static async start(
    names: readonly string[],
    nodeTimeoutMs?: number,
    env?: Record<string, string>,
    options: readonly string[] = [],
  ): Promise<FaultCluster> {
    const folder = scratchFolder();
    const work = await writeWork(join(folder, 'sources'));
    const started = new FaultCluster(await Cluster.start({ nodes: 0, nodeTimeoutMs, env, options }), folder, work);
    try {
      await Promise.all(names.map((name) => started.join(name)));
      started.undisturbed = await doUndisturbed(started.cluster, work, join(folder, 'undisturbed'));
      return started;
    } catch (error) {
      await started.stop();
      throw error;
    }
  }

  node(name: string): ProxiedNode {
    return this.#nodes.get(name)!;
  }

  /** Starts a node and waits until it is attached. */
  async join(name: string, start?: NodeStart): Promise<ProxiedNode> {
    const node = await this.launch(name, start);
    await eventually(`${name} to be attached`, () => this.cluster.node(name));
    return node;
  }

  /** Starts a node, which may soon end. */
  async launch(name: string, { env, device = 'cpu', options = [] }: NodeStart = {}): Promise<ProxiedNode> {
    const proxy = await TcpProxy.start(this.cluster.address);
    const node = { ...(await startNode(proxy.address, name, device, [...drainSlowly, ...options], { env })), proxy };
    this.#nodes.set(name, node);
    this.cluster.nodes.push(node);
    return node;
  }

  /** Kills the node's remaining processes, and forgets the node. */
  async kill(name: string): Promise<void> {
    const { program } = this.node(name);
    // A process that is just being started may be missed the first time.
    await eventually(`${name} to be gone`, () => {
      program.kill();
      return program.processes().length === 0;
    });
    await program.ended;
    await this.forget(name);
  }

  /** Forgets a node whose processes have ended. */
  async forget(name: string): Promise<void> {
    const node = this.node(name);
    this.#nodes.delete(name);
    this.cluster.nodes.splice(this.cluster.nodes.indexOf(node), 1);
    await node.proxy.close();
  }

  /**
   * Repairs every network and waits until exactly these nodes are attached. Other nodes are killed; missing and killed
   * ones are started.
   */
  async restore(...names: string[]): Promise<void> {
    for (const { proxy } of this.#nodes.values()) {
      proxy.set({});
      proxy.accept();
    }
    for (const [name, { program }] of [...this.#nodes]) {
      if (!names.includes(name) || program.pidsOf('node').length === 0) await this.kill(name);
    }
    for (const name of names) if (!this.#nodes.has(name)) await this.join(name);
    await eventually(`${names.join(', ')} to be attached`, async () => {
      const attached = await Promise.all(names.map((name) => this.cluster.node(name)));
      return attached.every((node) => node && !node.draining);
    });
  }

  /**
   * Repairs every network and waits until two nodes are attached, whose names it returns: those that are still alive,
   * and new ones only in the place of ended ones, because a start and a first job cost two seconds of processor time.
   */
  async haveTwo(): Promise<[string, string]> {
    const alive = [...this.#nodes].filter(([, { program }]) => program.pidsOf('node').length > 0);
    const names = alive.slice(0, 2).map(([name]) => name);
    while (names.length < 2) names.push(`later-${++this.#later}`);
    await this.restore(...names);
    return names as [string, string];
  }

  /** Submits the work, or other sources with the same cut. It waits for nodes for as long as a test leaves it none. */
  async submit(sources = [this.work.folder]): Promise<StartedJob> {
    const out = join(this.#folder, `job-${++this.#jobs}`);
    const before = await readMetrics(this.cluster.http);
    return { out, before, jobId: await this.cluster.jobs.submit({ ...cut, sources, out, waitForNode: true }) };
  }

  /** Waits until at least `atLeast` shards of the job are done; the job must not have ended. */
  async shardsDone({ jobId }: StartedJob, atLeast: number): Promise<number> {
    return eventually(`${atLeast} shards of job ${jobId}`, async () => {
      const { counts, state } = await this.cluster.job(jobId);
      const { shardsDone } = counts!;
      if (shardsDone < atLeast) return undefined;
      assert.ok(['JOB_STATE_PENDING', 'JOB_STATE_RUNNING'].includes(String(state)), `The job was over: ${state}`);
      return shardsDone;
    });
  }

  /** Waits until the job has ended in any state. If it does not, fails with the state of the job. */
  async ended({ jobId }: StartedJob): Promise<JobStatus> {
    try {
      return await within(`the end of job ${jobId}`, this.cluster.jobs.untilEnded(jobId));
    } catch (error) {
      const now = { job: await this.cluster.job(jobId), nodes: this.cluster.nodes.map(({ name }) => name) };
      throw new Error(`${(error as Error).message}: ${JSON.stringify(now)}`, { cause: error });
    }
  }

  /**
   * As `completesUndisturbed`, for a job that several coordinators led in turn: each one's metrics count only a part of
   * it.
   */
  async resumesUndisturbed(started: StartedJob): Promise<{ attempts: number }> {
    const job = await this.ended(started);
    assert.equal(job.state, 'JOB_STATE_COMPLETE', job.error);
    assert.deepEqual(await readOutcome(started.out), this.undisturbed);
    return this.#countsAddUp(started, job);
  }

  /**
   * Waits for the job's end, and asserts: the job is complete with exactly the undisturbed outcome, each of its shards
   * was accepted once, and the counts of job.json, the API and the metrics agree. Returns its attempts without second
   * leases of slow shards, which depend on how busy the machine is.
   */
  async completesUndisturbed(started: StartedJob): Promise<{ attempts: number; expired: number }> {
    const job = await this.ended(started);
    assert.equal(job.state, 'JOB_STATE_COMPLETE', job.error);
    assert.deepEqual(await readOutcome(started.out), this.undisturbed);
    return this.#addsUp(started, job);
  }

  async #addsUp({ out, before }: StartedJob, job: JobStatus): Promise<{ attempts: number; expired: number }> {
    const { shards, sources, pixels } = this.work;
    const { attempts } = this.#countsAddUp({ out }, job);
    const after = await readMetrics(this.cluster.http);
    const grown = (series: string) => (after.get(series) ?? 0) - (before.get(series) ?? 0);
    const reasons = [...after.keys()].filter((series) => series.startsWith('halogrid_shard_attempts_total'));
    const measured = {
      accepted: grown(acceptedSeries),
      leased: reasons.reduce((sum, series) => sum + grown(series), 0),
      pixels: grown('halogrid_input_pixels_total{kernel="lbp"}'),
      frames: grown('halogrid_input_frames_total{kernel="lbp"}'),
      open: after.get('halogrid_shards{state="queued"}')! + after.get('halogrid_shards{state="leased"}')!,
      heldBytes: after.get('halogrid_leases_bytes'),
    };
    const expected = { accepted: shards, leased: attempts, pixels, frames: sources, open: 0, heldBytes: 0 };
    assert.deepEqual(measured, expected);
    return { attempts: attempts - grown(copiesSeries), expired: grown('halogrid_lease_expirations_total') };
  }

  #countsAddUp({ out }: { out: string }, job: JobStatus): { attempts: number } {
    const { shards, sources, pixels } = this.work;
    const written = readJson(out, 'job.json');
    const { attempts } = written.counts;
    assert.deepEqual(written.counts, { sources, frames: sources, shards, attempts, pixels, quarantined: 0 });
    const byNode: { shards: number }[] = written.nodes;
    assert.equal(
      byNode.reduce((sum, node) => sum + node.shards, 0),
      shards,
      'each shard is one node’s',
    );
    assert.deepEqual([job.counts!.shards, job.counts!.shardsDone, job.counts!.attempts], [shards, shards, attempts]);
    return { attempts };
  }

  /**
   * Ends everything, and asserts that every process ended in order. Copies of slow shards are recalled when a job ends;
   * a node that is stopped before would end with 75.
   */
  async stop(): Promise<void> {
    let codes: Record<string, number | null>;
    try {
      const alive = [...this.#nodes.values()].filter(({ program }) => program.pidsOf('node').length > 0);
      await eventually('nodes without shards', async () => {
        const metrics = await Promise.all(alive.map(({ http }) => readMetrics(http)));
        return metrics.every((values) => values.get('halogrid_node_leases') === 0);
      });
    } finally {
      codes = await this.cluster.stop();
      await Promise.all([...this.#nodes.values()].map(({ proxy }) => proxy.close()));
    }
    assert.deepEqual(new Set(Object.values(codes)), new Set([0]), JSON.stringify(codes));
  }
}

/** Counts the coordinator's accepted results once they are durable; what it shows of a job may be a moment ahead. */
export const acceptedSeries = 'halogrid_shards_finished_total{kernel="lbp",outcome="ok"}';

/** Counts second leases of slow shards, as happen on a busy machine. */
const copiesSeries = 'halogrid_shard_attempts_total{reason="straggler"}';

async function doUndisturbed(cluster: Cluster, work: Work, out: string): Promise<Outcome> {
  const { counts } = await cluster.jobs.run({ ...cut, sources: [work.folder], out });
  const copies = (await readMetrics(cluster.http)).get(copiesSeries) ?? 0;
  assert.deepEqual(
    [counts!.shards, counts!.attempts - copies, counts!.pixels],
    [work.shards, work.shards, work.pixels],
  );
  const outcome = await readOutcome(out);
  assert.deepEqual(outcome.histogram, work.expected);
  return outcome;
}
