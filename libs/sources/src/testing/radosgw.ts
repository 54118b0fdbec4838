// For tests: a private Ceph object gateway, an S3 server that others keep.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, freePort, timeoutMs, within } from '@halogrid/testing';
import { send } from '../buckets/send.ts';

const programs = ['ceph-mon', 'ceph-osd', 'radosgw', 'radosgw-admin', 'monmaptool', 'ceph-authtool', 'ceph'];
const isInstalled = (program: string): boolean =>
  (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program)));

/** Why tests with radosgw are skipped; false if they are not. Only root may start it without systemd. */
export const skipRadosgw: string | false =
  process.getuid?.() !== 0
    ? 'needs root, which starts radosgw'
    : !programs.every(isInstalled) && 'needs ceph-mon, ceph-osd, radosgw and ceph-common, as Debian has them';

const [accessKeyId, secretAccessKey] = ['AK', 'SK'];

/** Where a server runs, if not among this process's programs: a command that its programs follow, and its address. */
export interface RadosgwPlace {
  within: readonly string[];
  address: string;
}

/**
 * A server with one monitor, one store in memory and one gateway, which are gone with the process. It has no manager,
 * which an object gateway does not need.
 */
export class Radosgw {
  readonly environment: Record<string, string | undefined>;
  readonly #folder: string;
  readonly #conf: string;
  readonly #port: number;
  readonly #place: RadosgwPlace;
  readonly #running: ChildProcess[] = [];
  #gateway!: ChildProcess;

  private constructor(folder: string, port: number, place: RadosgwPlace) {
    this.#folder = folder;
    this.#place = place;
    this.#conf = join(folder, 'ceph.conf');
    this.#port = port;
    this.environment = {
      AWS_ENDPOINT_URL_S3: undefined,
      AWS_ENDPOINT_URL: `http://${place.address}:${port}`,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: undefined,
    };
  }

  static async start(place: RadosgwPlace = { within: [], address: '127.0.0.1' }): Promise<Radosgw> {
    const folder = mkdtempSync(join(tmpdir(), 'halogrid-radosgw-'));
    const [monitorPort, port] = [await freePort(), await freePort()];
    const server = new Radosgw(folder, port, place);
    process.once('exit', () => {
      for (const child of server.#running) child.kill('SIGKILL');
    });
    server.#configure(monitorPort);
    await server.#startStore();
    server.addUser('test', accessKeyId, secretAccessKey);
    await server.resume();
    return server;
  }

  /** A further user, who sees nothing of others before they allow it. */
  addUser(name: string, key: string, secret: string): void {
    const user = ['user', 'create', '--uid', name, '--display-name', name];
    this.#call('radosgw-admin', ...user, '--access-key', key, '--secret', secret);
  }

  /** Makes a bucket; the environment must be the server's. `readers`: other users who may read all of it. */
  async createBucket(bucket: string, ...readers: string[]): Promise<void> {
    await send({ method: 'PUT', bucket, key: '' });
    if (readers.length === 0) return;
    const statement = {
      Effect: 'Allow',
      Principal: { AWS: readers.map((name) => `arn:aws:iam:::user/${name}`) },
      Action: ['s3:ListBucket', 's3:GetObject'],
      Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`],
    };
    const policy = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
    await send({ method: 'PUT', bucket, key: '', query: { policy: '' }, body: Buffer.from(policy) });
  }

  /** Ends the gateway as a crash would; the objects stay. */
  async crash(): Promise<void> {
    await end(this.#gateway);
  }

  /** Stops the gateway, so that connections stay open and nothing answers, or lets it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#gateway.kill(signal);
  }

  /** Starts the gateway again. */
  async resume(): Promise<void> {
    this.#gateway = this.#spawn('radosgw', '-n', 'client.admin', '-f');
    await eventually('radosgw to answer', () => fetch(this.environment.AWS_ENDPOINT_URL!).catch(() => undefined));
  }

  /** Ends all processes and removes what they wrote. */
  async remove(): Promise<void> {
    for (const child of this.#running.reverse()) await end(child);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #configure(monitorPort: number): void {
    const folder = this.#folder;
    const [id, monitor, keyring] = [randomUUID(), `v2:127.0.0.1:${monitorPort}`, join(folder, 'keyring')];
    for (const name of ['osd', 'rgw', 'run']) mkdirSync(join(folder, name));
    const settings = {
      fsid: id,
      'mon host': monitor,
      'mon initial members': 'a',
      'public addr': '127.0.0.1',
      keyring,
      'osd pool default size': 1,
      'osd pool default min size': 1,
      'osd pool default pg num': 4,
      'osd crush chooseleaf type': 0,
      'mon allow pool size one': true,
      'run dir': join(folder, 'run'),
      'admin socket': join(folder, 'run', '$cluster-$name.asok'),
      'log file': join(folder, '$name.log'),
      'mon data': join(folder, 'mon'),
      'osd data': join(folder, 'osd'),
      'osd objectstore': 'memstore',
      'memstore device bytes': 2 ** 31,
      'rgw data': join(folder, 'rgw'),
      'rgw frontends': `beast endpoint=${this.#place.address}:${this.#port}`,
      'rgw run sync thread': false,
      'setuser match path': '/none',
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
    writeFileSync(this.#conf, `[global]\n${lines.join('')}`);
    const map = join(folder, 'monmap');
    run('monmaptool', '--create', '--fsid', id, '--addv', 'a', `[${monitor}]`, map);
    const key = (name: string, ...caps: string[]): void => {
      const all = caps.flatMap((cap) => ['--cap', ...cap.split('=')]);
      run(
        'ceph-authtool',
        keyring,
        ...(existsSync(keyring) ? [] : ['--create-keyring']),
        '--gen-key',
        '-n',
        name,
        ...all,
      );
    };
    key('mon.', 'mon=allow *');
    key('client.admin', 'mon=allow *', 'osd=allow *');
    key('osd.0', 'mon=allow profile osd', 'osd=allow *');
    this.#call('ceph-mon', '--mkfs', '-i', 'a', '--monmap', map, '--keyring', keyring);
  }

  async #startStore(): Promise<void> {
    this.#spawn('ceph-mon', '-f', '-i', 'a');
    const disk = randomUUID();
    await eventually('the monitor to answer', async () =>
      this.#tries('ceph', '--connect-timeout', String(Math.ceil(timeoutMs(5_000) / 1_000)), 'osd', 'new', disk),
    );
    this.#call('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', disk);
    this.#spawn('ceph-osd', '-f', '-i', '0');
  }

  #call(program: string, ...words: string[]): void {
    run(...this.#place.within, program, '-c', this.#conf, ...words);
  }

  #tries(program: string, ...words: string[]): boolean {
    try {
      this.#call(program, ...words);
      return true;
    } catch {
      return false;
    }
  }

  #spawn(program: string, ...words: string[]): ChildProcess {
    const log = openSync(join(this.#folder, `${program}.out`), 'a');
    const [first, ...rest] = [...this.#place.within, program, '-c', this.#conf, ...words];
    const child = spawn(first!, rest, { stdio: ['ignore', log, log] });
    closeSync(log);
    this.#running.push(child);
    return child;
  }
}

function run(...[program, ...words]: string[]): void {
  execFileSync(program!, words, { stdio: ['ignore', 'ignore', 'pipe'] });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  child.once('exit', () => resolve());
  child.kill('SIGKILL');
  await within(`the end of process ${child.pid}`, promise);
}
