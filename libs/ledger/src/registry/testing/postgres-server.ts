// For tests: a private PostgreSQL server.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, standStill, within } from '@halogrid/testing';
import { Client } from 'pg';

/** Folder of PostgreSQL's programs, such as /usr/lib/postgresql/15/bin. */
const programs = process.env.HALOGRID_TEST_POSTGRES;

/** Why tests with PostgreSQL are skipped; false if they are not. */
export const skipPostgres: string | false =
  !programs && 'needs PostgreSQL: HALOGRID_TEST_POSTGRES names the folder of its programs';

export interface PostgresServerOptions {
  /** Without it the data survive a crash of the server's processes, but not of the machine. */
  syncs?: boolean;
  /** A command that the server's program follows, and the address at which it also listens, for others to connect. */
  place?: { within: readonly string[]; address: string };
}

/** A server with its own data, reached through a socket in its folder. It is gone when the process ends. */
export class PostgresServer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'halogrid-postgres-'));
  /** PostgreSQL refuses to run as root. */
  readonly #user: { uid?: number; gid?: number } = process.getuid?.() === 0 ? userIds('postgres') : {};
  readonly #syncs: boolean;
  readonly #place: PostgresServerOptions['place'];
  #server: ChildProcess | undefined;
  /** Each lets a process of a paused server go on. */
  readonly #paused: (() => void)[] = [];
  #databases = 0;

  private constructor({ syncs = true, place }: PostgresServerOptions) {
    this.#syncs = syncs;
    this.#place = place;
  }

  static async start(options: PostgresServerOptions = {}): Promise<PostgresServer> {
    const server = new PostgresServer(options);
    process.once('exit', () => server.#server?.kill('SIGKILL'));
    const { uid, gid } = server.#user;
    if (uid !== undefined) chownSync(server.#folder, uid, gid!);
    const initdb = ['--auth=trust', '--username=halogrid', '--encoding=UTF8', '--locale=C'];
    if (!server.#syncs) initdb.push('--no-sync');
    execFileSync(join(programs!, 'initdb'), ['-D', server.#folder, ...initdb], {
      ...server.#user,
      cwd: server.#folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    // The socket is in the same folder.
    chmodSync(server.#folder, 0o700);
    if (server.#place) appendFileSync(join(server.#folder, 'pg_hba.conf'), 'host all all samenet trust\n');
    await server.resume();
    return server;
  }

  /** The URL of a new and empty database. */
  async createDatabase(): Promise<string> {
    const name = `test_${this.#databases++}`;
    await this.query('postgres', `CREATE DATABASE ${name}`);
    return this.#url(name, this.#place?.address);
  }

  /** The URL of a new and empty schema, which is much faster to make than a database. */
  createSchema(): string {
    return `${this.#url('postgres')}?schema=test_${this.#databases++}`;
  }

  async query(database: string, sql: string): Promise<Record<string, unknown>[]> {
    const client = new Client({ connectionString: database.includes('://') ? database : this.#url(database) });
    try {
      await client.connect();
      return (await client.query(sql)).rows;
    } finally {
      await client.end();
    }
  }

  /** Ends the server as a crash would; its data stay. */
  async crash(): Promise<void> {
    await this.#end('SIGQUIT');
  }

  /** Starts the server again, on the same data. */
  async resume(): Promise<void> {
    const settings = [
      `listen_addresses=${this.#place?.address ?? ''}`,
      `unix_socket_directories=${this.#folder}`,
      'log_min_messages=panic',
    ];
    if (!this.#syncs) settings.push('fsync=off');
    const words = ['-D', this.#folder, ...settings.flatMap((setting) => ['-c', setting])];
    const [first, ...rest] = [...this.#within(), join(programs!, 'postgres'), ...words];
    const started = spawn(first!, rest, {
      // A command that enters another machine needs root; it changes the user itself.
      ...(this.#place ? {} : this.#user),
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    this.#server = started;
    await eventually('PostgreSQL to answer', () => {
      if (started.exitCode !== null) throw new Error(`PostgreSQL ended with ${started.exitCode}`);
      return this.query('postgres', 'SELECT 1').catch(() => undefined);
    });
  }

  /** Stops every process of the server: connections stay open, and nothing answers. */
  pause(): void {
    const { pid } = this.#server!;
    // First this one, so that it starts no more.
    this.#paused.push(standStill(pid!));
    for (const name of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        const [, parent] = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
        if (Number(parent) === pid) this.#paused.push(standStill(Number(name)));
      } catch {
        // It has ended by now.
      }
    }
  }

  /** Lets the server go on. */
  wake(): void {
    for (const goOn of this.#paused.splice(0)) goOn();
  }

  /** Ends the server and removes its data. */
  async remove(): Promise<void> {
    await this.#end('SIGINT');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const server = this.#server!;
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill(signal);
    await within('the end of PostgreSQL', once(server, 'exit'));
  }

  #within(): readonly string[] {
    if (!this.#place) return [];
    const { uid, gid } = this.#user;
    return [
      ...this.#place.within,
      ...(uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']),
    ];
  }

  #url(database: string, host = encodeURIComponent(this.#folder)): string {
    return `postgres://halogrid@${host}/${database}`;
  }
}

function userIds(name: string): { uid: number; gid: number } {
  const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
