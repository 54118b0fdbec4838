import { join } from 'node:path';
import type { JobStatus, NodeStatus } from '@halogrid/proto';
import { eventually, timeoutMs } from '@halogrid/testing';
import { command } from './command.ts';
import { get } from './get.ts';
import { type Ended, Halogrid, type HalogridOptions, halogrid } from './halogrid.ts';
import { connectJobs, type JobsOverGrpc } from './jobs-client.ts';
import { scratchFolder } from './scratch-folder.ts';

const anyPort = '127.0.0.1:0';

export interface ClusterNode {
  readonly name: string;
  readonly program: Halogrid;
  /** http://HOST:PORT. */
  readonly http: string;
  /** Id of the process that computes. */
  readonly pid: number;
}

export interface ClusterOptions {
  /** 1 unless given. */
  nodes?: number;
  device?: string;
  /** HOST:PORT; any free port unless given. */
  listen?: string;
  /** How many milliseconds a node may be silent; by default so many that no healthy node is lost. */
  nodeTimeoutMs?: number;
  /** The file of the ledger; in a scratch folder unless given. */
  ledger?: string;
  /** Environment variables of the coordinator's process, in addition to this process's. */
  env?: Record<string, string>;
  /** Further arguments of the coordinator's command. */
  options?: readonly string[];
  /** The longest life of its processes; for measurements, not for tests. */
  maxLifeMs?: number;
}

/** A running coordinator, as its users see it. */
export class ServingCluster {
  /** HOST:PORT for gRPC. */
  readonly address: string;
  /** http://HOST:PORT of the coordinator. */
  readonly http: string;
  readonly jobs: JobsOverGrpc;

  constructor(address: string, http: string) {
    this.address = address;
    this.http = http;
    this.jobs = connectJobs(address);
  }

  /** Runs a command for this coordinator; with options other than `cwd`, in a separate process. */
  halogrid(args: readonly string[], options: HalogridOptions = {}): Promise<Ended> {
    const words = [...args, '--coordinator', this.address];
    const { cwd, ...more } = options;
    return Object.keys(more).length === 0 ? command(words, cwd) : halogrid(words, options);
  }

  /** A job from the coordinator's HTTP API. */
  async job(jobId: string): Promise<JobStatus> {
    const { jobs } = (await getJson(`${this.http}/api/v1/jobs`)) as { jobs: JobStatus[] };
    return jobs.find((job) => job.jobId === jobId)!;
  }

  /** Closes the connection to the coordinator. */
  async stop(): Promise<unknown> {
    this.jobs.close();
    return undefined;
  }
}

/** A coordinator and nodes, each in a separate process. */
export class Cluster extends ServingCluster {
  coordinator: Halogrid;
  readonly nodes: ClusterNode[] = [];
  /** Words of the coordinator's command. */
  readonly #options: readonly string[];

  private constructor(coordinator: Halogrid, options: readonly string[], address: string, http: string) {
    super(address, `http://${http}`);
    this.coordinator = coordinator;
    this.#options = options;
  }

  /**
   * Starts a coordinator and nodes; resolves when the nodes are attached. The coordinator waits long for nodes that a
   * test holds up; it notices a dead node by its connection.
   */
  static async start({
    nodes = 1,
    device = 'cpu',
    listen = anyPort,
    nodeTimeoutMs = Math.min(timeoutMs(60_000), 600_000),
    ledger = join(scratchFolder(), 'ledger.sqlite'),
    env,
    options: further = [],
    maxLifeMs,
  }: ClusterOptions = {}): Promise<Cluster> {
    const options = ['--ledger', ledger, '--node-timeout', String(nodeTimeoutMs), '--log-level', 'warn', ...further];
    const coordinator = new Halogrid(['coordinator', ...options, '--listen', listen, '--http', anyPort], {
      env,
      maxLifeMs,
      withoutLauncher: true,
    });
    const { grpc, http } = await coordinator.firstLine;
    const cluster = new Cluster(coordinator, options, `127.0.0.1:${grpc}`, `127.0.0.1:${http}`);
    await Promise.all(Array.from({ length: nodes }, (_, i) => cluster.startNode(`n${i + 1}`, device, { maxLifeMs })));
    return cluster;
  }

  /**
   * Starts the coordinator again after its end, with the same ledger and addresses, and `env` in its environment;
   * resolves once it serves.
   */
  async startCoordinatorAgain(env?: Record<string, string>): Promise<void> {
    await this.coordinator.ended;
    const addresses = ['--listen', this.address, '--http', new URL(this.http).host];
    this.coordinator = new Halogrid(['coordinator', ...this.#options, ...addresses], { env, withoutLauncher: true });
    await this.coordinator.firstLine;
  }

  /** Starts a node and waits until it is attached. */
  async startNode(name: string, device = 'cpu', process: HalogridOptions = {}): Promise<ClusterNode> {
    return this.adopt(await startNode(this.address, name, device, [], process));
  }

  /** Waits until a node that was started elsewhere is attached; it is stopped with the others. */
  async adopt(node: ClusterNode): Promise<ClusterNode> {
    this.nodes.push(node);
    await eventually(`${node.name} to be attached`, async () => (await get(`${node.http}/readyz`)).ok);
    return node;
  }

  /** An attached node from the coordinator's HTTP API; undefined if it is not attached. */
  async node(name: string): Promise<NodeStatus | undefined> {
    return (await attachedNodes(this.http)).find((node) => node.name === name);
  }

  /** Waits until some shards of a job are done, but not all. */
  halfWay(jobId: string): Promise<JobStatus> {
    return eventually(`job ${jobId} to be half-way`, async () => {
      const job = await this.job(jobId);
      const { shards, shardsDone } = job.counts!;
      if (job.state !== 'JOB_STATE_PENDING' && job.state !== 'JOB_STATE_RUNNING') {
        throw new Error(`Job ${jobId} was over (${job.state}) before anybody saw it half-way`);
      }
      return shardsDone > 0 && shardsDone < shards ? job : undefined;
    });
  }

  /** Asks every process to end and resolves with their exit codes by name. */
  override async stop(): Promise<Record<string, number | null>> {
    await super.stop();
    const codes: Record<string, number | null> = {};
    for (const { name, program } of [...this.nodes, { name: 'coordinator', program: this.coordinator }]) {
      program.signal('SIGTERM');
      codes[name] = (await program.ended).code;
    }
    return codes;
  }
}

/** Starts a node and waits until it serves, with or without a coordinator. */
export async function startNode(
  coordinator: string,
  name: string,
  device = 'cpu',
  more: readonly string[] = [],
  process: HalogridOptions = {},
): Promise<ClusterNode> {
  const options = ['--coordinator', coordinator, '--name', name, '--device', device, ...more];
  const program = new Halogrid(['node', ...options, '--http', anyPort, '--log-level', 'warn'], {
    withoutLauncher: !process.olderNode,
    ...process,
  });
  const { http } = await program.firstLine;
  return { name, program, http: `http://127.0.0.1:${http}`, pid: program.pidsOf('node')[0] ?? program.pid };
}

/** The attached nodes from the HTTP API of a coordinator. */
export async function attachedNodes(http: string): Promise<NodeStatus[]> {
  const { nodes } = (await getJson(`${http}/api/v1/nodes`)) as { nodes: NodeStatus[] };
  return nodes;
}

async function getJson(url: string): Promise<unknown> {
  const response = await get(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response.json();
}
