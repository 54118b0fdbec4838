import assert from 'node:assert/strict';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { PostgresServer } from '@halogrid/ledger/testing-postgres-server';
import { setVariables } from '@halogrid/sources/testing-files';
import { Radosgw } from '@halogrid/sources/testing-radosgw';
import { eventually, timeoutMs, within } from '@halogrid/testing';
import { get } from '../get.ts';
import { Halogrid } from '../halogrid.ts';
import { type Machine, Network } from '../namespaces.ts';

/** Milliseconds of silence after which a node counts as lost. */
const nodeTimeoutMs = timeoutMs(3_000);

/** What can be killed, stopped, and cut off: a machine with what runs on it. */
export interface Service {
  readonly machine: Machine;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** Starts it after `kill`, and resolves when it serves. */
  start(): Promise<void>;
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void;
}

/** A process of halogrid that is started again whenever it has ended, as a supervisor does. */
export class Supervised implements Service {
  readonly machine: Machine;
  readonly http: string;
  readonly #args: readonly string[];
  readonly #options: { env: Record<string, string>; maxLifeMs: number };
  readonly #log: string;
  #program: Halogrid | undefined;
  #isWanted = false;
  /** How it ended without being asked. */
  readonly ends: string[] = [];

  constructor(machine: Machine, http: string, args: readonly string[], env: Record<string, string>, logs: Logs) {
    this.machine = machine;
    this.http = `http://${http}`;
    this.#args = [...args, '--http', http, '--insecure-network', '--log-format', 'text'];
    this.#options = { env, maxLifeMs: logs.maxLifeMs };
    this.#log = join(logs.folder, `${machine.name}.log`);
  }

  async start(): Promise<void> {
    this.#isWanted = true;
    this.#launch();
    await eventually(`${this.machine.name} to serve`, () => {
      assert.ok(this.#isWanted, this.ends.at(-1));
      return this.answers('/healthz');
    });
  }

  #launch(): void {
    const program = new Halogrid(this.#args, {
      ...this.#options,
      within: this.machine.within,
      withoutLauncher: true,
    });
    this.#program = program;
    void program.ended.then(({ code, signal, stderr }) => {
      createWriteStream(this.#log, { flags: 'a' }).end(`${stderr}--- ended with ${code ?? signal}\n`);
      if (this.#program !== program || !this.#isWanted) return;
      this.ends.push(`${this.machine.name} ended with ${code ?? signal}: ${stderr.slice(-2_000)}`);
      // Wrong usage would not go away.
      if (code === 2) this.#isWanted = false;
      else this.#launch();
    });
  }

  async kill(): Promise<void> {
    this.#isWanted = false;
    this.#program!.kill();
    await this.#program!.ended;
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#program!.signal(signal);
  }

  /** Asks it to end, and resolves with its exit code. */
  async stop(): Promise<number | null> {
    this.#isWanted = false;
    this.#program!.signal('SIGTERM');
    return (await this.#program!.ended).code;
  }

  answers(path: string): Promise<boolean> {
    return within('an answer', get(this.http + path), nodeTimeoutMs).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}

interface Logs {
  folder: string;
  maxLifeMs: number;
}

export interface MachinesOptions {
  /** Where the logs of processes go. */
  logs: string;
  maxLifeMs: number;
}

const recorder = { AWS_ACCESS_KEY_ID: 'RK', AWS_SECRET_ACCESS_KEY: 'RS' };

/**
 * Two coordinators, a database, an object store and six nodes, each on a machine of its own without a folder that
 * another sees. The keys of the last two nodes read only the bucket of recordings.
 */
export class Machines {
  readonly store: Radosgw;
  readonly coordinators: Supervised[] = [];
  readonly nodes: Supervised[] = [];
  /** The database and the object store. */
  readonly #servers: { postgres: PostgresServer; machines: Machine[] };
  readonly services = new Map<string, Service>();

  private constructor(store: Radosgw, postgres: PostgresServer, machines: Machine[]) {
    this.store = store;
    this.#servers = { postgres, machines };
    const [database, bucket] = machines as [Machine, Machine];
    this.services.set('database', {
      machine: database,
      kill: () => postgres.crash(),
      start: () => postgres.resume(),
      signal: (signal) => (signal === 'SIGSTOP' ? postgres.pause() : postgres.wake()),
    });
    this.services.set('store', {
      machine: bucket,
      kill: () => store.crash(),
      start: () => store.resume(),
      signal: (signal) => store.signal(signal),
    });
  }

  /** Starts the database and the store, to which this process's environment leads then; no halogrid yet. */
  static async start(): Promise<{ network: Network; machines: Machines }> {
    const network = new Network();
    const [database, bucket] = [await network.add('database'), await network.add('store')];
    const at = ({ withinNetwork, address }: Machine) => ({ within: withinNetwork, address });
    const postgres = await PostgresServer.start({ place: at(database) });
    const store = await Radosgw.start(at(bucket));
    store.addUser('recorder', recorder.AWS_ACCESS_KEY_ID, recorder.AWS_SECRET_ACCESS_KEY);
    setVariables(store.environment);
    return { network, machines: new Machines(store, postgres, [database, bucket]) };
  }

  /** Starts coordinators and nodes. */
  async startHalogrid(network: Network, { logs, maxLifeMs }: MachinesOptions): Promise<void> {
    const where: Logs = { folder: logs, maxLifeMs };
    const ledger = await this.#servers.postgres.createDatabase();
    const env = { HALOGRID_LEDGER: ledger, HALOGRID_SCRATCH: '/tmp/scratch' };
    const roots = ['/tmp/empty', 's3://results'].flatMap((root) => ['--data-root', root]);
    for (const name of ['coordinator-1', 'coordinator-2']) {
      const machine = await network.add(name);
      const listen = ['--listen', `${machine.address}:7070`, '--node-timeout', String(nodeTimeoutMs)];
      const args = ['coordinator', ...listen, '--index', '/tmp/frames.index', ...roots];
      this.#add(this.coordinators, new Supervised(machine, `${machine.address}:9464`, args, env, where));
    }
    const leaders = this.addresses;
    for (let i = 1; i <= 6; i++) {
      const machine = await network.add(i <= 4 ? `node-${i}` : `recorder-${i}`);
      const blind = ['--storage', 'remote', '--data-root', '/tmp/empty'];
      const args = ['node', '--coordinator', leaders, '--name', machine.name, '--device', 'cpu', ...blind];
      const keys = i <= 4 ? {} : recorder;
      this.#add(this.nodes, new Supervised(machine, `${machine.address}:9465`, args, keys, where));
    }
    await Promise.all([...this.coordinators, ...this.nodes].map((each) => each.start()));
    await this.healed();
  }

  #add(to: Supervised[], service: Supervised): void {
    to.push(service);
    this.services.set(service.machine.name, service);
  }

  /** For --coordinator. */
  get addresses(): string {
    return this.coordinators.map(({ machine }) => `${machine.address}:7070`).join();
  }

  /** Resolves when all lead, and all nodes are attached. */
  async healed(): Promise<void> {
    for (const each of [...this.coordinators, ...this.nodes])
      await eventually(`${each.machine.name} to be ready`, () => each.answers('/readyz'));
  }

  /** Asks all processes to end, and resolves with what ended otherwise than in order. */
  async stop(): Promise<string[]> {
    const wrong: string[] = [];
    for (const each of [...this.nodes, ...this.coordinators]) {
      const code = await each.stop();
      if (code !== 0) wrong.push(`${each.machine.name} ended with ${code}`);
    }
    return wrong;
  }

  /** Ends all that is left, also after a failure. */
  async remove(): Promise<void> {
    await Promise.all([...this.nodes, ...this.coordinators].map((each) => each.kill()));
    await this.store.remove();
    await this.#servers.postgres.remove();
  }
}
