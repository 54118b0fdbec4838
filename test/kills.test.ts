import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { PostgresServer, skipPostgres } from '@halogrid/ledger/testing-postgres-server';
import type { JobStatus } from '@halogrid/proto';
import { eventually, freePort, programLimitMs, timeoutMs } from '@halogrid/testing';
import { Cluster, startNode } from './cluster.ts';
import { command } from './command.ts';
import { killedAtChange } from './faults/kill-at-change.ts';
import { type Ended, Halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { hasProc } from './process-list.ts';
import { hashFiles, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { seeded } from './seeded.ts';
import { repetitions } from './thorough.ts';

// A process is killed before one of its changes of the disk. The moments are spread over a whole job: while it is
// planned, while answers come, while tables are made and while they are published. Half of the jobs run over an earlier
// output, whose results are kept. Then the job goes on, and its output must be the same as undisturbed.

const skip = hasProc ? false : 'which processes there are is told by /proc';

/** How many coordinators are killed; half of them in `run`. */
const kills = repetitions('HALOGRID_TEST_KILLS', 2, 6);
const [half, few] = [Math.ceil(kills / 2), Math.ceil(kills / 5)];
const seed = Number(process.env.HALOGRID_TEST_SEED ?? 1);

const folder = scratchFolder();
const source = join(folder, 'source');
const undisturbed = join(folder, 'undisturbed');
/** An earlier output with some of the sources. */
const earlier = join(folder, 'earlier');
const cut = ['--pipeline', 'codes=lbp', '--pipeline', 'derivatives=ldp:order=2', '--map', 'tiff', '--grid', '2x2'];
const small = ['--tile', '60', '--batch', '2'];
const job = (out: string): string[] => [source, ...cut, ...small, '--out', out];
const local = ['--nodes', '1', '--device', 'cpu'];

let counters = 0;
const newCounter = (): string => join(folder, `changes-${++counters}`);

/** How many changes of the disk an undisturbed `run` makes; a coordinator makes as many, but for a few. */
let changesOfRun: number;

before(async () => {
  mkdirSync(source);
  const addFrames = async (first: number, last: number) => {
    for (let i = first; i < last; i++) await writePgm(join(source, `frame-${i}.pgm`), drawPicture(20 + (i % 5), 20, i));
  };
  await addFrames(0, 4);
  // A single job does not run over an earlier output.
  if (half > 1) {
    const { code, stderr } = await command(['run', ...job(earlier), ...local]);
    assert.equal(code, 0, stderr);
  }
  await addFrames(4, 12);
  await writePgm(join(source, 'picture.pgm'), drawPicture(140, 130));
  writeFileSync(join(source, 'broken.pgm'), 'P5\n20 20\n255\n');
  const { end, changes } = await run(undisturbed);
  assert.equal(end.code, 3, end.stderr);
  changesOfRun = changes;
});

/** Runs the job, and kills the process before the given change. */
async function run(out: string, change?: number): Promise<{ end: Ended; changes: number }> {
  const counter = newCounter();
  const env = killedAtChange({ command: 'run', counter, change });
  const program = new Halogrid(['run', ...job(out), ...local], { ownGroup: true, withoutLauncher: true, env });
  const end = await program.ended;
  await eventually('its processes to be gone', () => program.processes().length === 0);
  return { end, changes: statSync(counter).size };
}

/** A folder for a job, with an earlier output in every other one. */
function outFolder(name: string, number: number): string {
  const out = join(folder, `${name}-${number}`);
  if (number % 2 === 0) return out;
  cpSync(earlier, out, { recursive: true });
  const path = join(out, 'job.json');
  const [was, is] = [earlier, out].map((folder) => pathToFileURL(folder).href);
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(was!, is!));
  return out;
}

/** Random numbers of changes, one in each of `count` equal parts of all. */
function spread(count: number, changes: number, random: () => number): number[] {
  return Array.from({ length: count }, (_, i) => 1 + Math.floor(((i + random()) / count) * changes));
}

function assertSame(out: string, of: string): void {
  const [is, was] = [out, undisturbed].map((path) => readJson(path, 'job.json'));
  assert.equal(is.digest, was.digest, of);
  const { sources, frames, pixels, quarantined } = is.counts;
  assert.deepEqual({ ...was.counts, sources, frames, pixels, quarantined }, was.counts, of);
  const [files, expected] = [hashFiles(out), hashFiles(undisturbed)];
  for (const name of Object.keys(expected)) if (name.endsWith('job.json')) delete expected[name];
  for (const name of Object.keys(files)) if (name.endsWith('job.json')) delete files[name];
  assert.deepEqual(files, expected, of);
}

test(`run is killed at ${half} changes of the disk, and the same command completes the job`, { skip }, async (t) => {
  const random = seeded(seed);
  let killed = 0;
  for (const [i, change] of spread(half, changesOfRun, random).entries()) {
    const out = outFolder('run', i);
    const changes = [change, ...(i % 3 === 2 ? [1 + Math.floor(random() * changesOfRun)] : [])];
    for (const change of changes) if ((await run(out, change)).end.signal === 'SIGKILL') killed++;
    const { end } = await run(out);
    const of = `seed ${seed}, killed at changes ${changes.join(' and ')} of ${changesOfRun}, folder ${i}`;
    assert.equal(end.code, 3, `${of}: ${end.stderr}`);
    assertSame(out, of);
  }
  t.diagnostic(`seed ${seed}: ${killed} kills at changes 1 to ${changesOfRun}`);
  assert.ok(killed > half / 2);
});

/** A coordinator that keeps its ledger and its address after a kill. */
class Served {
  readonly address: string;
  readonly #http: string;
  readonly #ledger: readonly string[];
  program: Halogrid | undefined;

  private constructor(address: string, http: string, ledger: readonly string[]) {
    this.address = address;
    this.#http = http;
    this.#ledger = ledger;
  }

  static async create(ledger: readonly string[]): Promise<Served> {
    return new Served(`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`, ledger);
  }

  /** Starts it; resolves once it serves, or is killed. */
  async start(change?: number): Promise<void> {
    const counter = newCounter();
    const where = ['--listen', this.address, '--http', this.#http, '--log-level', 'warn', ...this.#ledger];
    const env = killedAtChange({ command: 'coordinator', counter, change });
    this.program = new Halogrid(['coordinator', ...where], { withoutLauncher: true, env });
    await this.program.firstLine.catch(() => {});
  }

  async end(): Promise<void> {
    this.program!.signal('SIGTERM');
    assert.equal((await this.program!.ended).code, 0);
  }

  /** Submits the job of the folder, unless the coordinator knows it already. */
  async submit(out: string): Promise<void> {
    const response = await fetch(`http://${this.#http}/api/v1/jobs`);
    const { jobs } = (await response.json()) as { jobs: JobStatus[] };
    if (jobs.some(({ spec }) => spec?.out === pathToFileURL(out).href)) return;
    const submitted = await trySubmit(out, this.address);
    assert.equal(submitted.code, 0, submitted.stderr);
  }
}

/** Submits a job; the coordinator may be killed meanwhile. */
async function trySubmit(out: string, address: string): Promise<Ended> {
  const ended = await command(['submit', ...job(out), '--coordinator', address]);
  assert.notEqual(ended.code, 2, ended.stderr);
  return ended;
}

const isWhole = (out: string): boolean => {
  try {
    return readJson(out, 'job.json').digest !== undefined && isPublished(out);
  } catch {
    return false;
  }
};
/** Whether the folder has the new output; an earlier output has fewer sources. */
const isPublished = (out: string): boolean =>
  readJson(out, 'job.json').counts.sources === readJson(undisturbed, 'job.json').counts.sources &&
  !existsSync(join(out, '.halogrid'));

const untilWhole = (out: string) => eventually(`the job of ${out} to be complete`, () => isWhole(out));

test(`a coordinator with SQLite is killed at ${half} changes of the disk, and continues when it is started again`, {
  skip,
}, async (t) => {
  const served = await Served.create(['--ledger', join(folder, 'ledger.sqlite')]);
  const node = await startNode(served.address, 'n1', 'cpu', [], { maxLifeMs: programLimitMs * kills });
  t.after(() => [served.program, node.program].forEach((program) => void program?.kill()));
  const random = seeded(seed + 1);
  let killed = 0;
  for (const [i, change] of spread(half, changesOfRun, random).entries()) {
    if (i > 0) await served.end();
    const out = outFolder('served', i);
    await served.start(change);
    await trySubmit(out, served.address);
    await Promise.race([served.program!.ended, untilWhole(out)]);
    if (isWhole(out)) served.program!.kill();
    else killed++;
    await served.program!.ended;
    await served.start();
    await served.submit(out);
    await untilWhole(out);
    assertSame(out, `seed ${seed}, killed at change ${change} of ${changesOfRun}, folder ${i}`);
  }
  t.diagnostic(`seed ${seed}: ${killed} kills at changes 1 to ${changesOfRun}`);
  assert.ok(killed > half / 3);
  await served.end();
  node.program.signal('SIGTERM');
  assert.equal((await node.program.ended).code, 0);
});

// leaders.test.ts always kills coordinators with PostgreSQL, but not at each change of the disk.
const noPostgres = skip || skipPostgres || (kills <= 2 && 'is run by HALOGRID_THOROUGH=1');
let server: PostgresServer | undefined;
after(() => server?.remove());

test(`two coordinators with PostgreSQL are killed one after the other, in ${few} jobs`, {
  skip: noPostgres,
}, async (t) => {
  server = await PostgresServer.start();
  process.env.HALOGRID_LEDGER = await server.createDatabase();
  const pair = [await Served.create([]), await Served.create([])];
  const [one, other] = pair as [Served, Served];
  for (const served of pair) await served.start();
  const both = `${one.address},${other.address}`;
  const node = await startNode(both, 'n1', 'cpu', [], { maxLifeMs: programLimitMs * kills });
  t.after(() => [...pair.map(({ program }) => program!), node.program].forEach((program) => void program.kill()));
  const random = seeded(seed + 2);
  let killed = 0;
  for (const [i, change] of spread(few, changesOfRun, random).entries()) {
    for (const served of pair) await served.end();
    const out = outFolder('shared', i);
    await one.start(change);
    await other.start(1 + Math.floor(random() * changesOfRun));
    await trySubmit(out, one.address);
    for (const { program } of pair) {
      await Promise.race([program!.ended, untilWhole(out)]);
      if (isWhole(out)) program!.kill();
      else killed++;
      await program!.ended;
    }
    await Promise.all(pair.map((served) => served.start()));
    await one.submit(out);
    await untilWhole(out);
    assertSame(out, `seed ${seed}, killed at change ${change} of ${changesOfRun}, folder ${i}`);
  }
  t.diagnostic(`seed ${seed}: ${killed} kills at changes 1 to ${changesOfRun}`);
  for (const served of pair) await served.end();
  node.program.signal('SIGTERM');
  assert.equal((await node.program.ended).code, 0);
});

// node-loss.test.ts always kills nodes, but not at each change of the disk.
const skipNodes = skip || (kills <= 2 && 'is run by HALOGRID_THOROUGH=1');

test(`two nodes are killed one after the other while they write their results, in ${few} jobs`, {
  skip: skipNodes,
}, async (t) => {
  // A shard whose node was lost twice waits for this time.
  const nodeTimeoutMs = timeoutMs(2_000);
  const cluster = await Cluster.start({ nodes: 0, nodeTimeoutMs, maxLifeMs: programLimitMs * kills });
  const counter = newCounter();
  const start = (name: string, counter: string, change?: number) =>
    startNode(cluster.address, name, 'cpu', [], { env: killedAtChange({ command: 'node', counter, change }) });
  const submit = async (out: string) => {
    const { code, stderr } = await trySubmit(out, cluster.address);
    assert.equal(code, 0, stderr);
  };
  let node = await start('undisturbed', counter);
  t.after(() => [cluster.coordinator, node.program].forEach((program) => void program.kill()));
  const leave = async () => {
    node.program.signal('SIGTERM');
    assert.equal((await node.program.ended).code, 0);
  };
  await submit(join(folder, 'nodes'));
  await untilWhole(join(folder, 'nodes'));
  await leave();
  const all = statSync(counter).size;

  const random = seeded(seed + 3);
  let killed = 0;
  for (const [i, change] of spread(few, all, random).entries()) {
    const out = outFolder('nodes', i);
    await submit(out);
    for (const at of [change, 1 + Math.floor(random() * all)]) {
      node = await start(`n${i}-${at}`, newCounter(), at);
      await Promise.race([node.program.ended, untilWhole(out)]);
      if (isWhole(out)) node.program.kill();
      else killed++;
      await node.program.ended;
    }
    node = await start(`last-${i}`, newCounter());
    await untilWhole(out);
    assertSame(out, `seed ${seed}, killed first at change ${change} of ${all}, folder ${i}`);
    await leave();
  }
  t.diagnostic(`seed ${seed}: ${killed} kills at changes 1 to ${all}`);
  assert.ok(killed > 0);
  await cluster.stop();
});
