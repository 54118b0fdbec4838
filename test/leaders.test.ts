import assert from 'node:assert/strict';
import { basename, join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { PostgresServer, skipPostgres } from '@halogrid/ledger/testing-postgres-server';
import { eventually, freePort, isThorough, pause, standStill, timeoutMs } from '@halogrid/testing';
import { attachedNodes, type ClusterNode, startNode } from './cluster.ts';
import { command } from './command.ts';
import { Halogrid, halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { hasProc } from './process-list.ts';
import { readMetrics } from './read-metrics.ts';
import { hashFiles, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { slowFiles } from './slow-files.ts';

// Two coordinators lead together with one PostgreSQL; a node and commands get both addresses. Then one coordinator is
// lost.

const skip = skipPostgres || (!hasProc && 'which process is the coordinator is told by /proc');
const folder = scratchFolder();
const source = join(folder, 'picture.pgm');
let server: PostgresServer;
before(async () => {
  if (skip) return;
  await writePgm(source, drawPicture(800, 800));
  server = await PostgresServer.start();
});
/** Functions to call when the test file ends. */
const atEnd: (() => void)[] = [];
after(async () => {
  for (const end of atEnd) end();
  await server?.remove();
});

interface Coordinator {
  program: Halogrid;
  /** HOST:PORT for gRPC. */
  address: string;
  /** http://HOST:PORT. */
  http: string;
  /** The id of the process that coordinates. */
  pid: number;
}

/** Two coordinators, and a node that is attached to both. */
interface Pair {
  /** The URL of the ledger that both share. */
  url: string;
  first: Coordinator;
  second: Coordinator;
  node: ClusterNode;
  /** Both addresses. */
  addresses: string;
  /** The epoch of the job's leader; null if the job has ended. */
  leaderOf(id: string): Promise<unknown>;
  /** The epoch of the job's leases, which a new leader raises. */
  epochOf(id: string): Promise<unknown>;
  /** Whether the coordinator with that epoch no longer leads: it released its lease, or the lease was over. */
  isReleased(epoch: unknown): Promise<unknown>;
}

let lasting: Promise<Pair> | undefined;

/** A pair for tests that leave both coordinators as they were. */
const lastingPair = (): Promise<Pair> => (lasting ??= startPair({ after: (end) => atEnd.push(end) }));

/** The owner of programs, with which they end. */
interface Owner {
  after(end: () => void): void;
}

async function startPair(t: Owner): Promise<Pair> {
  const url = `${await server.createDatabase()}?schema=site_a`;
  // The processes inherit it. It is not an argument, because the list of processes would show the password of a URL.
  process.env.HALOGRID_LEDGER = url;
  const [first, second] = await Promise.all([startCoordinator(t), startCoordinator(t)]);
  for (const { program, http } of [first, second]) {
    await program.firstLine;
    assert.deepEqual(await statusOf(`${http}/readyz`), [200, 'ok\n']);
  }
  const addresses = `${first.address},${second.address}`;
  const node = await startSlowNode(t, addresses);
  for (const { http } of [first, second]) {
    await eventually('the node to be attached', async () => (await attachedNodes(http)).length === 1);
  }
  const database = url.split('?')[0]!;
  const columnOf = (column: string) => async (id: string) => {
    const [job] = await server.query(database, `SELECT ${column} FROM site_a.jobs WHERE job_id = '${id}'`);
    return job![column];
  };
  const isReleased = async (epoch: unknown) => {
    const [row] = await server.query(database, `SELECT released FROM site_a.coordinators WHERE epoch = ${epoch}`);
    return row?.released;
  };
  return { url, first, second, node, addresses, leaderOf: columnOf('leader'), epochOf: columnOf('epoch'), isReleased };
}

/** Starts a coordinator, at the addresses of an ended one if that is given. */
async function startCoordinator(t: Owner, before?: Coordinator): Promise<Coordinator> {
  const address = before?.address ?? `127.0.0.1:${await freePort()}`;
  const web = before?.http.slice('http://'.length) ?? `127.0.0.1:${await freePort()}`;
  // A node notices a hanging leader after this time-out.
  const nodeTimeout = String(timeoutMs(3_000));
  const options = ['--listen', address, '--http', web, '--node-timeout', nodeTimeout, '--log-level', 'warn'];
  const program = new Halogrid(['coordinator', ...options]);
  t.after(() => program.kill());
  const http = `http://${web}`;
  await eventually('the coordinator to be alive', () => fetch(`${http}/healthz`).catch(() => undefined));
  return { program, address, http, pid: program.pidsOf('coordinator')[0]! };
}

async function startSlowNode(t: Owner, addresses: string): Promise<ClusterNode> {
  const node = await startNode(addresses, 'node', 'cpu', [], { env: slowFiles('picture.pgm') });
  t.after(() => node.program.kill());
  return node;
}

interface JobRow {
  id: string;
  state: string;
  counts: { shards: number; shardsDone: number; attempts: number };
}

async function jobsOf({ http }: Coordinator): Promise<JobRow[]> {
  const { jobs } = (await (await fetch(`${http}/api/v1/jobs`)).json()) as { jobs: (JobRow & { jobId: string })[] };
  return jobs.map((job) => ({ ...job, id: job.jobId }));
}

const metricOf = async ({ http }: Coordinator, name: string) => (await readMetrics(http)).get(name);

async function nodeNames(addresses: string): Promise<string[]> {
  const { code, stdout, stderr } = await command(['nodes', '--json', '--coordinator', addresses]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout).map(({ name }: { name: string }) => name);
}

async function statusOf(url: string): Promise<[number, string]> {
  const response = await fetch(url);
  return [response.status, await response.text()];
}

const cutSmall = ['--tile', '80', '--map', 'tiff'];

async function submit({ address }: Coordinator, out: string, more: readonly string[] = []): Promise<string> {
  const job = [source, ...cutSmall, '--out', out, '--coordinator', address, ...more];
  const submitted = await command(['submit', ...job]);
  assert.equal(submitted.code, 0, submitted.stderr);
  return submitted.stdout.trim();
}

/** Submits a job to each coordinator, and resolves when each job has first results. */
async function beginJobs({ first, second }: Pair, name: string): Promise<string[]> {
  const ids = [await submit(first, join(folder, name, '0')), await submit(second, join(folder, name, '1'))];
  for (const [i, leader] of [first, second].entries()) {
    await eventually('the first results', async () => {
      const job = (await jobsOf(leader)).find(({ id }) => id === ids[i]);
      return (job?.counts.shardsDone ?? 0) > 0;
    });
  }
  return ids;
}

let expected: { digest: string; counts: object; files: Record<string, string> } | undefined;

/** The results of the jobs without a disturbance. */
async function undisturbed(): Promise<NonNullable<typeof expected>> {
  if (expected) return expected;
  const out = join(folder, 'undisturbed');
  const run = await command(['run', source, ...cutSmall, '--out', out, '--json', '--device', 'cpu']);
  assert.equal(run.code, 0, run.stderr);
  const { digest, counts } = JSON.parse(run.stdout);
  expected = { digest, counts, files: hashFiles(out) };
  return expected;
}

/**
 * Asserts that both jobs end complete according to `by`, with the results of an undisturbed job, and that nothing is
 * counted twice.
 */
async function assertResults(t: TestContext, by: Coordinator, name: string, ids: readonly string[]): Promise<void> {
  const { digest, counts, files } = await undisturbed();
  for (const [i, id] of ids.entries()) {
    const watched = await command(['watch', id, '--json', '--coordinator', by.address]);
    assert.equal(watched.code, 0, watched.stderr);
    const found = JSON.parse(watched.stdout);
    assert.equal(found.digest, digest);
    const { attempts } = found.counts;
    t.diagnostic(`${attempts} attempts at ${found.counts.shards} shards`);
    assert.deepEqual(found.counts, { ...counts, attempts });
    const out = join(folder, name, `${i}`);
    assert.equal(readJson(out, 'job.json').digest, digest);
    const written = hashFiles(out);
    for (const file of Object.keys(files))
      if (basename(file) !== 'job.json') assert.equal(written[file], files[file], file);
    assert.deepEqual(Object.keys(written), Object.keys(files));
  }
}

/** Resolves when the job has another leader than `before`, or has ended. */
async function adopted({ leaderOf }: Pair, id: string, before: unknown): Promise<void> {
  await eventually('the job to be adopted', async () => (await leaderOf(id)) !== before);
}

test('each leads its own jobs, and answers for the jobs of the other', { skip }, async (t) => {
  const pair = await lastingPair();
  const { first, second, node } = pair;
  for (const leader of [first, second]) assert.equal(await metricOf(leader, 'halogrid_leader'), 1);
  assert.equal((await fetch(`${node.http}/readyz`)).status, 200);
  const ids = await beginJobs(pair, 'together');
  // Stops the node, so that the jobs do not end during the questions.
  const goOn = standStill(node.pid);
  for (const leader of [first, second]) {
    const running = await metricOf(leader, 'halogrid_jobs{state="running"}');
    assert.equal(running, 1);
    assert.deepEqual((await jobsOf(leader)).map(({ id }) => id).sort(), ids.toSorted());
  }
  const status = await command(['status', ids[0]!, '--json', '--coordinator', second.address]);
  assert.equal(status.code, 0, status.stderr);
  assert.equal(JSON.parse(status.stdout).state, 'running');
  const knownBy = async <T>({ http }: Coordinator, what: string): Promise<T> =>
    (await (await fetch(`${http}/api/v1/jobs/${ids[0]}${what}`)).json()) as T;
  // An image counts nothing before its last tile.
  const { counted, channels } = await knownBy<{ counted: number; channels: { bins: [] }[] }>(second, '/histogram');
  assert.deepEqual([counted, channels[0]!.bins.length], [0, 256]);
  const { history } = await knownBy<{ history: { lanes: { node: string }[] } }>(second, '');
  assert.deepEqual(
    history.lanes.map((lane) => lane.node),
    ['node'],
  );
  goOn();
  const unwanted = await submit(first, join(folder, 'together', 'unwanted'));
  const cancelled = await command(['cancel', unwanted, '--coordinator', second.address]);
  assert.equal(cancelled.code, 0, cancelled.stderr);
  for (const leader of [first, second]) {
    const job = (await jobsOf(leader)).find(({ id }) => id === unwanted);
    assert.equal(job?.state, 'JOB_STATE_CANCELLED');
  }
  await assertResults(t, first, 'together', ids);
  await assertResults(t, second, 'together', ids);
  const merges = async (by: Coordinator): Promise<number> => {
    const { traceEvents } = await knownBy<{ traceEvents: { name: string }[] }>(by, '/trace');
    return traceEvents.filter(({ name }) => name === 'merge').length;
  };
  assert.equal(await merges(second), await merges(first));
  const file = await fetch(`${second.http}/api/v1/jobs/${ids[0]}/results/job.json`);
  assert.equal(((await file.json()) as { digest: string }).digest, (await undisturbed()).digest);
});

test('the other coordinator leads the jobs after a SIGKILL', { skip }, async (t) => {
  const pair = await startPair(t);
  const ids = await beginJobs(pair, 'killed');
  const before = await pair.leaderOf(ids[0]!);
  process.kill(pair.first.pid, 'SIGKILL');
  await adopted(pair, ids[0]!, before);
  await assertResults(t, pair.second, 'killed', ids);
  assert.deepEqual(await nodeNames(pair.addresses), ['node']);
});

const skipThorough = skip || (!isThorough && 'is repeated by HALOGRID_THOROUGH=1');

test('two of four coordinators are killed, and the others divide their jobs', { skip: skipThorough }, async (t) => {
  const url = await server.createDatabase();
  process.env.HALOGRID_LEDGER = url;
  const leaders = await Promise.all(Array.from({ length: 4 }, () => startCoordinator(t)));
  for (const { program } of leaders) await program.firstLine;
  const addresses = leaders.map(({ address }) => address).join(',');
  await startSlowNode(t, addresses);
  const ids: string[] = [];
  for (const [i, leader] of [...leaders, ...leaders].entries()) {
    ids.push(await submit(leader, join(folder, 'four', `${i}`)));
  }
  const leads = async () => (await server.query(url, 'SELECT leader FROM halogrid.jobs')).map(({ leader }) => leader);
  const before = new Set(await leads());
  for (const { pid } of leaders.slice(0, 2)) process.kill(pid, 'SIGKILL');
  await eventually('the jobs to be adopted', async () => {
    const now = new Set((await leads()).filter((leader) => leader !== null));
    return now.size <= 2 && before.size === 4;
  });
  await assertResults(t, leaders[3]!, 'four', ids);
});

test('a hanging coordinator is replaced, and can do nothing more when it wakes up', { skip }, async (t) => {
  const pair = await startPair(t);
  const { first, second } = pair;
  const ids = await beginJobs(pair, 'stopped');
  const before = await pair.leaderOf(ids[0]!);
  const goOn = standStill(first.pid);
  await adopted(pair, ids[0]!, before);
  goOn();
  const { code, stderr } = await first.program.ended;
  assert.equal(code, 1);
  assert.match(
    stderr,
    /halogrid: Another coordinator has taken over from this one, which had epoch \d+: .* with epoch \d+\n$/,
  );
  await assertResults(t, second, 'stopped', ids);
});

test('a coordinator that is killed and started again gets its jobs back, with the leases of nodes', {
  skip,
}, async (t) => {
  const url = await server.createDatabase();
  process.env.HALOGRID_LEDGER = url;
  const first = await startCoordinator(t);
  await first.program.firstLine;
  await startSlowNode(t, first.address);
  const id = await submit(first, join(folder, 'again', '0'));
  await eventually('the first results', async () => (await jobsOf(first))[0]!.counts.shardsDone > 0);
  process.kill(first.pid, 'SIGKILL');
  await first.program.ended;
  const again = await startCoordinator(t, first);
  await again.program.firstLine;
  await assertResults(t, again, 'again', [id]);
});

test('jobs wait for a database that is stopped and started again', { skip }, async (t) => {
  const pair = await lastingPair();
  const { first, second } = pair;
  const ids = await beginJobs(pair, 'database');
  const epochs = await Promise.all(ids.map(pair.epochOf));
  await server.crash();
  for (const { http } of [first, second]) {
    await eventually('it to say what it waits for', async () => {
      const [code, text] = await statusOf(`${http}/readyz`);
      return code === 503 && text.includes('ledger');
    });
  }
  await server.resume();
  await assertResults(t, first, 'database', ids);
  assert.deepEqual(await Promise.all(ids.map(pair.epochOf)), epochs);
  for (const leader of [first, second]) {
    assert.deepEqual(await statusOf(`${leader.http}/readyz`), [200, 'ok\n']);
    assert.equal(await metricOf(leader, 'halogrid_leader'), 1);
  }
});

test('jobs wait for a database that hangs and goes on', { skip }, async (t) => {
  const pair = await lastingPair();
  const { first, second } = pair;
  const ids = await beginJobs(pair, 'hanging');
  const epochs = await Promise.all(ids.map(pair.epochOf));
  server.pause();
  t.after(() => server.wake());
  for (const { http } of [first, second]) {
    await eventually('it to say what it waits for', async () => {
      const [code, text] = await statusOf(`${http}/readyz`);
      return code === 503 && text.includes('ledger');
    });
  }
  // Longer than a lease or, in thorough runs, than any statement may take.
  await pause(isThorough ? 60_000 : 7_000);
  server.wake();
  await assertResults(t, first, 'hanging', ids);
  assert.deepEqual(await Promise.all(ids.map(pair.epochOf)), epochs);
  for (const leader of [first, second]) {
    await eventually('it to serve', async () => (await statusOf(`${leader.http}/readyz`))[0] === 200);
    assert.equal(await metricOf(leader, 'halogrid_leader'), 1);
  }
});

test('a coordinator of another version is refused', { skip }, async () => {
  const { url, first } = await lastingPair();
  const database = url.split('?')[0]!;
  const add = (more: number) => server.query(database, `UPDATE site_a.coordinators SET protocol = protocol + ${more}`);
  await add(-2);
  const options = ['--listen', '127.0.0.1:0', '--http', '127.0.0.1:0', '--log-level', 'warn'];
  const { code, stderr } = await halogrid(['coordinator', ...options], { env: { HALOGRID_LEDGER: url } });
  await add(2);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^halogrid: The ledger is led by another version: .*; end the others first, or run their version\n$/m,
  );
  assert.deepEqual(await statusOf(`${first.http}/readyz`), [200, 'ok\n']);
});

test('a coordinator that is asked to end leaves its jobs to the other at once', { skip }, async (t) => {
  // This is the last test of this pair.
  const pair = await lastingPair();
  const ids = await beginJobs(pair, 'ended');
  const before = await pair.leaderOf(ids[0]!);
  pair.first.program.signal('SIGTERM');
  assert.equal((await pair.first.program.ended).code, 0);
  // The lease is released, so that the other does not wait for its end.
  assert.equal(await pair.isReleased(before), true);
  await adopted(pair, ids[0]!, before);
  await assertResults(t, pair.second, 'ended', ids);
});
