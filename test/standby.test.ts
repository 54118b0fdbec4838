import assert from 'node:assert/strict';
import { basename, join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { PostgresServer, skipPostgres } from '../apps/coordinator/src/ledger/store/testing/postgres-server.ts';
import { type ClusterNode, startNode } from './cluster.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { Halogrid, halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { hasProc } from './process-list.ts';
import { hashFiles, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';

// Two coordinators with one ledger in PostgreSQL, a node and commands that are given both addresses. The leader is lost.

const skip = skipPostgres || (!hasProc && 'which process is the coordinator is told by /proc');
const folder = scratchFolder();
const source = join(folder, 'picture.pgm');
let server: PostgresServer;
before(async () => {
  if (skip) return;
  await writePgm(source, drawPicture(1600, 1600));
  server = await PostgresServer.start();
});
after(() => server?.remove());

interface Coordinator {
  program: Halogrid;
  /** HOST:PORT for gRPC. */
  address: string;
  /** http://HOST:PORT. */
  http: string;
  /** The id of the process that coordinates. */
  pid: number;
}

/** The epoch that a coordinator leads with, or that it knows of. */
async function epochOf({ http }: Coordinator): Promise<number> {
  const metrics = await (await fetch(`${http}/metrics`)).text();
  return Number(/^halogrid_ledger_epoch (\d+)$/m.exec(metrics)![1]);
}

/** A leader, its standby, and a node that is attached; all end with the test. */
interface Pair {
  leader: Coordinator;
  standby: Coordinator;
  node: ClusterNode;
  /** Both addresses. */
  addresses: string;
  /** That of the leader. */
  epoch: number;
  /** What the ledger holds, but for the time of the lease. */
  ledger(): Promise<unknown>;
}

async function startPair(t: TestContext): Promise<Pair> {
  const url = await server.createDatabase();
  // Inherited by the processes: a URL with a password is not for the list of processes.
  process.env.HALOGRID_LEDGER = url;
  const leader = await startCoordinator(t);
  await leader.program.firstLine;
  const standby = await startCoordinator(t);
  assert.deepEqual(await statusOf(`${standby.http}/healthz`), [200, 'ok\n']);
  const readiness = await eventually('the standby to know who leads', async () => {
    const [code, text] = await statusOf(`${standby.http}/readyz`);
    return !text.includes('was not asked yet') && [code, text];
  });
  assert.equal(readiness[0], 503);
  assert.match(String(readiness[1]), new RegExp(`^Standby: the coordinator on .* at ${leader.address} .* leads\n$`));
  const addresses = `${leader.address},${standby.address}`;
  const node = await startNode(addresses, 'node', 'cpu');
  t.after(() => node.program.kill());
  await eventually('the node to be attached', async () => (await fetch(`${node.http}/readyz`)).ok);
  assert.deepEqual(await nodeNames(addresses), ['node']);
  const ledger = async () => [
    await server.query(url, 'SELECT epoch, holder FROM halogrid.leader'),
    await server.query(url, 'SELECT job_id, kind, key, md5(value) FROM halogrid.entries ORDER BY 1, 2, 3'),
  ];
  return { leader, standby, node, addresses, epoch: await epochOf(leader), ledger };
}

async function startCoordinator(t: TestContext): Promise<Coordinator> {
  const address = `127.0.0.1:${await freePort()}`;
  const web = `127.0.0.1:${await freePort()}`;
  // A node notices a leader that stands still after the time-out.
  const options = ['--listen', address, '--http', web, '--node-timeout', '3000', '--log-level', 'warn'];
  const program = new Halogrid(['coordinator', ...options]);
  t.after(() => program.kill());
  const http = `http://${web}`;
  await eventually('the coordinator to be alive', () => fetch(`${http}/healthz`).catch(() => undefined));
  return { program, address, http, pid: program.pidsOf('coordinator')[0]! };
}

/** Resolves when the standby leads and the node is attached to it. */
async function followed(t: TestContext, { standby, node, addresses, epoch }: Pair): Promise<void> {
  const sinceMs = performance.now();
  await standby.program.firstLine;
  t.diagnostic(`The standby led after ${Math.round(performance.now() - sinceMs)} ms`);
  assert.deepEqual(await statusOf(`${standby.http}/readyz`), [200, 'ok\n']);
  await eventually('the node to follow', async () => (await nodeNames(standby.address)).length === 1);
  t.diagnostic(`The node was attached after ${Math.round(performance.now() - sinceMs)} ms`);
  assert.equal((await fetch(`${node.http}/readyz`)).status, 200);
  assert.deepEqual(await nodeNames(addresses), ['node']);
  const metrics = await (await fetch(`${standby.http}/metrics`)).text();
  assert.match(metrics, /^halogrid_leader 1$/m);
  assert.equal(await epochOf(standby), epoch + 1);
}

async function shardsDone({ http }: Coordinator): Promise<number> {
  const { jobs } = (await (await fetch(`${http}/api/v1/jobs`)).json()) as {
    jobs: { counts: { shardsDone: number } }[];
  };
  return jobs[0]!.counts.shardsDone;
}

async function nodeNames(addresses: string): Promise<string[]> {
  const { code, stdout, stderr } = await halogrid(['nodes', '--json', '--coordinator', addresses]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout).map(({ name }: { name: string }) => name);
}

async function statusOf(url: string): Promise<[number, string]> {
  const response = await fetch(url);
  return [response.status, await response.text()];
}

test('a leader that is killed is followed by its standby', { skip }, async (t) => {
  const pair = await startPair(t);
  process.kill(pair.leader.pid, 'SIGKILL');
  await followed(t, pair);
  // Started again, it is the standby.
  const again = await startCoordinator(t);
  await eventually('it to stand by', async () =>
    (await statusOf(`${again.http}/readyz`))[1].includes(pair.standby.address),
  );
});

test('a leader that stands still is followed, and may do nothing more when it wakes up', { skip }, async (t) => {
  const pair = await startPair(t);
  process.kill(pair.leader.pid, 'SIGSTOP');
  await followed(t, pair);
  const before = await pair.ledger();
  process.kill(pair.leader.pid, 'SIGCONT');
  const { code, stderr } = await pair.leader.program.ended;
  assert.equal(code, 1);
  const { epoch } = pair;
  const sentence = `Another coordinator has taken over from this one, which had epoch ${epoch}: .*, with epoch ${epoch + 1}`;
  assert.match(stderr, new RegExp(`halogrid: ${sentence}\n$`));
  assert.deepEqual(await pair.ledger(), before);
  assert.deepEqual(await nodeNames(pair.addresses), ['node']);
});

for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
  test(`a job goes on with the standby after ${signal} of the leader`, { skip }, async (t) => {
    const pair = await startPair(t);
    const { leader } = pair;
    const disturb = async () => {
      process.kill(leader.pid, signal);
      await followed(t, pair);
    };
    const several = ['--pipeline', 'codes=lbp', '--pipeline', 'derivative=ldp:order=2'];
    await assertUndisturbed(t, pair, signal, disturb, signal === 'SIGKILL' ? several : []);
    if (signal === 'SIGKILL') return;
    process.kill(leader.pid, 'SIGCONT');
    assert.equal((await leader.program.ended).code, 1);
    assert.deepEqual(await nodeNames(pair.addresses), ['node']);
  });
}

test('a job waits for a database that goes away and comes back', { skip }, async (t) => {
  const pair = await startPair(t);
  await assertUndisturbed(t, pair, 'database', async () => {
    await server.crash();
    await eventually('the leader to say what it waits for', async () => {
      const [code, text] = await statusOf(`${pair.leader.http}/readyz`);
      return code === 503 && text.includes('ledger');
    });
    await server.resume();
  });
});

/** Disturbs a job half-way: its results are those of a job that nothing disturbs, and nothing is counted twice. */
async function assertUndisturbed(
  t: TestContext,
  { leader, addresses }: Pair,
  name: string,
  disturb: () => Promise<void>,
  pipelines: readonly string[] = [],
): Promise<void> {
  const [disturbed, whole] = [join(folder, name, 'disturbed'), join(folder, name, 'whole')];
  const cluster = ['--coordinator', addresses];
  const job = (out: string) => [source, '--tile', '32', '--map', 'tiff', ...pipelines, '--out', out, ...cluster];
  const submitted = await halogrid(['submit', ...job(disturbed)]);
  assert.equal(submitted.code, 0, submitted.stderr);
  const watch = new Halogrid(['watch', submitted.stdout.trim(), '--json', ...cluster]);
  t.after(() => watch.kill());
  await eventually('the first results', async () => (await shardsDone(leader)) > 0);
  await disturb();
  const watched = await watch.ended;
  assert.equal(watched.code, 0, watched.stderr);

  const run = await halogrid(['run', ...job(whole), '--json']);
  assert.equal(run.code, 0, run.stderr);
  const [found, expected] = [JSON.parse(watched.stdout), JSON.parse(run.stdout)];
  assert.equal(found.digest, expected.digest);
  const { attempts } = found.counts;
  t.diagnostic(`${attempts} attempts at ${found.counts.shards} shards`);
  assert.deepEqual(found.counts, { ...expected.counts, attempts });
  assert.equal(readJson(disturbed, 'job.json').digest, expected.digest);
  const [files, all] = [hashFiles(disturbed), hashFiles(whole)];
  for (const name of Object.keys(files)) if (basename(name) !== 'job.json') assert.equal(files[name], all[name], name);
  assert.deepEqual(Object.keys(files), Object.keys(all));
}

test('a leader that is asked to end leaves the lease to its standby at once', { skip }, async (t) => {
  const pair = await startPair(t);
  pair.leader.program.signal('SIGTERM');
  await followed(t, pair);
  assert.equal((await pair.leader.program.ended).code, 0);
});

test('a standby that is asked to end does so, and the leader goes on', { skip }, async (t) => {
  const { leader, standby, addresses } = await startPair(t);
  standby.program.signal('SIGTERM');
  assert.equal((await standby.program.ended).code, 0);
  assert.deepEqual(await statusOf(`${leader.http}/readyz`), [200, 'ok\n']);
  assert.deepEqual(await nodeNames(addresses), ['node']);
});
