import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, freePort } from '@halogrid/testing';
import { type ClusterNode, startNode } from '../cluster.ts';
import { Halogrid } from '../halogrid.ts';
import { residentBytes } from '../process-list.ts';

export const nodeNames = ['a', 'b', 'c'] as const;

/** Milliseconds of silence after which a node or a coordinator counts as lost. */
export const nodeTimeoutMs = 3_000;
/** For a machine that is busy. */

/** A coordinator that is started again whenever its process has ended. */
export class SoakCoordinator {
  readonly address: string;
  readonly http: string;
  /** How often its process was started. */
  life = 0;
  #program!: Halogrid;
  #hasEnded = true;
  readonly #ledger: string;
  readonly #maxLifeMs: number;

  static async create(ledger: string, maxLifeMs: number): Promise<SoakCoordinator> {
    const [grpc, http] = [await freePort(), await freePort()];
    return new SoakCoordinator(ledger, maxLifeMs, grpc, http);
  }

  private constructor(ledger: string, maxLifeMs: number, grpc: number, http: number) {
    this.#ledger = ledger;
    this.#maxLifeMs = maxLifeMs;
    this.address = `127.0.0.1:${grpc}`;
    this.http = `http://127.0.0.1:${http}`;
  }

  /** The id of the coordinator's process; undefined if it has ended. */
  get pid(): number | undefined {
    return this.#hasEnded ? undefined : this.#program.pidsOf('coordinator')[0];
  }

  /** Starts its process if it is not running, and resolves when the process answers. */
  async ensure(): Promise<void> {
    if (!this.#hasEnded) return;
    const addresses = ['--listen', this.address, '--http', new URL(this.http).host];
    const options = [...addresses, '--node-timeout', String(nodeTimeoutMs), '--log-level', 'warn'];
    // Not an argument, because the list of processes would show the URL of the database.
    const program = new Halogrid(['coordinator', ...options], {
      env: { HALOGRID_LEDGER: this.#ledger },
      maxLifeMs: this.#maxLifeMs,
    });
    this.#program = program;
    this.#hasEnded = false;
    this.life++;
    void program.ended.then(() => {
      if (this.#program === program) this.#hasEnded = true;
    });
    await eventually(`${this.http} to answer`, () => this.#answers('/healthz'));
  }

  leads(): Promise<boolean> {
    return this.#answers('/readyz');
  }

  async attached(): Promise<string[]> {
    const response = await fetch(`${this.http}/api/v1/nodes`).catch(() => undefined);
    if (!response?.ok) return [];
    const { nodes } = (await response.json()) as { nodes: { name: string; draining: boolean }[] };
    return nodes.filter(({ draining }) => !draining).map(({ name }) => name);
  }

  signal(signal: NodeJS.Signals): void {
    const { pid } = this;
    if (pid !== undefined) process.kill(pid, signal);
  }

  /** Resident bytes and open file descriptors. */
  usage(): { bytes: number; descriptors: number } | undefined {
    const { pid } = this;
    const bytes = pid === undefined ? undefined : residentBytes(pid);
    return bytes === undefined ? undefined : { bytes, descriptors: readdirSync(`/proc/${pid}/fd`).length };
  }

  async stop(): Promise<void> {
    if (this.#hasEnded) return;
    this.#program.signal('SIGTERM');
    await this.#program.ended;
  }

  async killed(): Promise<void> {
    this.#program.kill();
    await this.#program.ended;
  }

  async #answers(path: string): Promise<boolean> {
    const signal = AbortSignal.timeout(1_000);
    const response = await fetch(this.http + path, { signal }).catch(() => undefined);
    await response?.arrayBuffer().catch(() => {});
    return response?.ok ?? false;
  }
}

/** Coordinators with one ledger, and three nodes that know all coordinators. */
export class SoakCluster {
  readonly coordinators: SoakCoordinator[];
  readonly nodes = new Map<string, ClusterNode>();
  readonly #maxLifeMs: number;
  readonly #endedByThemselves: string[] = [];

  private constructor(coordinators: SoakCoordinator[], maxLifeMs: number) {
    this.coordinators = coordinators;
    this.#maxLifeMs = maxLifeMs;
  }

  /** Starts the cluster. `ledger` is a file, for one coordinator, or the URL of a database, for two. */
  static async start(ledger: string, maxLifeMs: number): Promise<SoakCluster> {
    const count = ledger.includes('://') ? 2 : 1;
    const coordinators: SoakCoordinator[] = [];
    for (let i = 0; i < count; i++) coordinators.push(await SoakCoordinator.create(ledger, maxLifeMs));
    const cluster = new SoakCluster(coordinators, maxLifeMs);
    await cluster.heal();
    return cluster;
  }

  /** Starts all missing processes; resolves with the leader once all nodes are attached to it. */
  async heal(): Promise<SoakCoordinator> {
    for (const coordinator of this.coordinators) await coordinator.ensure();
    for (const name of nodeNames) if (!this.nodes.has(name)) await this.startNode(name);
    return eventually('a leader with every node', async () => {
      this.checkNodes();
      // A coordinator that was replaced ends shortly after it wakes up.
      for (const coordinator of this.coordinators) await coordinator.ensure();
      for (const coordinator of this.coordinators) {
        if (!(await coordinator.leads())) continue;
        const attached = await coordinator.attached();
        if (nodeNames.every((name) => attached.includes(name))) return coordinator;
      }
      return undefined;
    });
  }

  async leader(): Promise<SoakCoordinator | undefined> {
    for (const coordinator of this.coordinators) if (await coordinator.leads()) return coordinator;
    return undefined;
  }

  async startNode(name: string): Promise<void> {
    const addresses = this.coordinators.map(({ address }) => address).join();
    const node = await startNode(addresses, name, 'cpu', [], { maxLifeMs: this.#maxLifeMs });
    this.nodes.set(name, node);
    void node.program.ended.then(({ code, signal, stderr }) => {
      // It ended without being asked.
      if (this.nodes.get(name) === node)
        this.#endedByThemselves.push(`Node ${name} ended with ${code ?? signal}: ${stderr}`);
    });
  }

  /** Throws if a node has ended that was not killed. */
  checkNodes(): void {
    if (this.#endedByThemselves.length > 0) throw new Error(this.#endedByThemselves.join('\n'));
  }

  async killNode(name: string): Promise<void> {
    const { program } = this.nodes.get(name)!;
    this.nodes.delete(name);
    program.kill();
    await program.ended;
  }

  /** Asks all processes to end, and resolves when they have. */
  async stop(): Promise<void> {
    const nodes = [...this.nodes.values()];
    this.nodes.clear();
    for (const { program } of nodes) {
      for (const pid of program.pidsOf('node')) process.kill(pid, 'SIGCONT');
      program.signal('SIGTERM');
      await program.ended;
    }
    for (const coordinator of this.coordinators) {
      coordinator.signal('SIGCONT');
      await coordinator.stop();
    }
  }
}

/** The path of a ledger file in that folder. */
export const ledgerFile = (folder: string): string => join(folder, 'ledger.sqlite');
