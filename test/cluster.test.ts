import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import type { NodeStatus } from '@halogrid/proto';
import { eventually, freePort, standStill } from '@halogrid/testing';
import { Cluster, type ClusterNode, startNode } from './cluster.ts';
import { type Ended, Halogrid } from './halogrid.ts';
import { lbpByDefinition } from './lbp-definition.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { hasProc } from './process-list.ts';
import { readMetrics } from './read-metrics.ts';
import { readHistogram, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { slowFiles } from './slow-files.ts';

// A coordinator, its nodes and every command, each in a separate process.

const needsProc = hasProc ? false : 'which process is the node is told by /proc';
const folder = scratchFolder();
const source = join(folder, 'picture.pgm');
const picture = drawPicture(512, 512);
const shards = 64;
const tile = ['--tile', '64'];
const slow = { env: slowFiles('picture.pgm') };
let cluster: Cluster;
/** The answers of the nodes before there was a coordinator: /healthz, /readyz, and the metric of attachment. */
let waiting: [alive: number, ready: number, text: string, attached: number | undefined][];
/** The digest of an undisturbed job. */
let digest: string;

/** Stops the processes of `nodes` until the returned function is called; their connections stay open. */
function pauseAll(nodes: readonly ClusterNode[], t: TestContext): () => void {
  const paused = nodes.map(({ pid }) => standStill(pid));
  const goOn = () => {
    for (const wake of paused) wake();
  };
  t.after(goOn);
  return goOn;
}

before(async () => {
  await writePgm(source, picture);
  const listen = `127.0.0.1:${await freePort()}`;
  const nodes = await Promise.all(['a', 'b'].map((name) => startNode(listen, name, 'cpu', [], slow)));
  waiting = await Promise.all(
    nodes.map(async ({ http }) => {
      const [alive, ready] = [await fetch(`${http}/healthz`), await fetch(`${http}/readyz`)];
      const attached = (await readMetrics(http)).get('halogrid_node_attached');
      return [alive.status, ready.status, await ready.text(), attached];
    }),
  );
  cluster = await Cluster.start({ listen, nodes: 0 });
  await Promise.all(nodes.map((node) => cluster.adopt(node)));
  ({ digest } = await cluster.jobs.run({ sources: [source], out: join(folder, 'undisturbed') }));
});

/**
 * How many second leases were given so far because a shard took long. Shards of a paused node take long, so they may be
 * leased to another node too.
 */
async function copies(): Promise<number> {
  return (await readMetrics(cluster.http)).get('halogrid_shard_attempts_total{reason="straggler"}')!;
}

/** Every process must end with exit code 0 when it is asked to. */
after(async () => {
  assert.deepEqual(await cluster?.stop(), { a: 0, b: 0, coordinator: 0 });
});

/** Ends a node that a test started, which exits with 75 if it had shards; the nodes that all tests share stay. */
async function end(node: ClusterNode, exitCode = 0): Promise<void> {
  cluster.nodes.splice(cluster.nodes.indexOf(node), 1);
  node.program.signal('SIGTERM');
  const { code, stderr } = await node.program.ended;
  assert.equal(code, exitCode, stderr);
}

test('nodes that start before the coordinator are alive but not ready, and then find it', async () => {
  for (const [alive, ready, text, attached] of waiting) {
    assert.deepEqual([alive, ready, attached], [200, 503, 0]);
    assert.match(text, /^No coordinator /);
  }
  const { code, stdout } = await cluster.halogrid(['nodes', '--json']);
  assert.equal(code, 0);
  const found: NodeStatus[] = JSON.parse(stdout);
  assert.deepEqual(
    found.map(({ name, device, draining }) => [name, device!.kind, draining]),
    ['a', 'b'].map((name) => [name, 'cpu', false]),
  );
});

test('one process submits a job and another watches it to its end, on two nodes', async () => {
  const out = join(folder, 'first');
  const copiesBefore = await copies();
  const submitted = await cluster.halogrid(['submit', source, ...tile, '--out', out]);
  assert.equal(submitted.code, 0, submitted.stderr);
  const jobId = submitted.stdout.trim();
  assert.match(jobId, /^\d{8}-\d{6}-[0-9a-f]{6}$/);

  const watched = await cluster.halogrid(['watch', jobId, '--json']);
  assert.equal(watched.code, 0, watched.stderr);
  const summary = JSON.parse(watched.stdout);
  assert.deepEqual([summary.id, summary.state, summary.out, summary.digest], [jobId, 'complete', out, digest]);
  const { attempts } = summary.counts;
  assert.equal(attempts, shards + (await copies()) - copiesBefore);
  const counts = { sources: 1, frames: 1, shards, attempts, pixels: 512 * 512, quarantined: 0 };
  assert.deepEqual(summary.counts, counts);
  const { bins, counted } = lbpByDefinition(picture, 'interior', 'nw-cw-msb');
  assert.deepEqual(readHistogram(out), { bins, counted });

  const written = readJson(out, 'job.json');
  assert.deepEqual([written.id, written.digest, written.counts], [jobId, digest, counts]);
  const parts: { name: string; shards: number }[] = written.nodes;
  assert.deepEqual(parts.map(({ name }) => name).sort(), ['a', 'b']);
  assert.ok(parts.every((node) => node.shards > 0));
  assert.equal(
    parts.reduce((sum, node) => sum + node.shards, 0),
    shards,
  );
});

test('status and jobs describe a job, for people and for programs', async () => {
  const out = join(folder, 'told');
  const { jobId } = await cluster.jobs.run({ sources: [source], out, tilePx: 128 });
  const commands = [['status', jobId], ['status', jobId, '--json'], ['jobs'], ['jobs', '--json'], ['nodes']];
  const answers: Ended[] = [];
  for (const command of commands) answers.push(await cluster.halogrid(command));
  assert.deepEqual(
    answers.map(({ code }) => code),
    commands.map(() => 0),
  );
  const [status, statusJson, jobs, jobsJson, nodes] = answers.map(({ stdout }) => stdout);
  assert.match(status!, /^state +complete$/m);
  assert.match(status!, /^progress +100 % in .* s, .*px\/s$/m);
  assert.match(status!, /^nodes +[12] nodes? took part$/m);
  assert.match(status!, /^bound by +\S/m);
  assert.match(status!, new RegExp(`^digest +${digest}$`, 'm'));
  const { id, state, digest: told, counts } = JSON.parse(statusJson!);
  assert.deepEqual([id, state, told, counts.shardsDone], [jobId, 'complete', digest, 16]);
  assert.match(jobs!, new RegExp(`^${jobId} +complete +16/16 `, 'm'));
  const listed = JSON.parse(jobsJson!).filter((job: { id: string }) => job.id === jobId);
  assert.deepEqual(listed, [JSON.parse(statusJson!)]);
  for (const name of ['a', 'b']) assert.match(nodes!, new RegExp(`^${name} +cpu .* ready `, 'm'));
});

test('a node that joins half-way gets shards', { skip: needsProc }, async (t) => {
  const out = join(folder, 'joined');
  const copiesBefore = await copies();
  const jobId = await cluster.jobs.submit({ sources: [source], out, tilePx: 64 });
  await cluster.halfWay(jobId);
  const others = [...cluster.nodes];
  const goOn = pauseAll(others, t);
  const before = (await cluster.job(jobId)).counts!;
  assert.ok(before.shardsDone < shards, 'the job is not over before the node joins');
  const joined = await cluster.startNode('late', 'cpu', slow);
  await eventually('shards of the late node', async () => (await cluster.node('late'))!.shardsDone > 0);
  goOn();

  const job = await cluster.jobs.untilEnded(jobId);
  assert.deepEqual([job.state, job.digest], ['JOB_STATE_COMPLETE', digest]);
  assert.equal(job.counts!.attempts, shards + (await copies()) - copiesBefore);
  const late = readJson(out, 'job.json').nodes.find(({ name }: { name: string }) => name === 'late');
  assert.ok(late.shards > 0);
  await end(joined);
});

test('a node that is asked to end finishes its shards, so that no attempt is wasted', {
  skip: needsProc,
}, async (t) => {
  const out = join(folder, 'drained');
  const copiesBefore = await copies();
  const others = [...cluster.nodes];
  const leaving = await cluster.startNode('leaving', 'cpu', slow);
  const jobId = await cluster.jobs.submit({ sources: [source], out, tilePx: 64 });
  await eventually('shards of the node', async () => (await cluster.node('leaving'))!.shardsDone > 0);
  // The other nodes are paused with their shards, so that the job cannot end meanwhile.
  const goOn = pauseAll(others, t);
  await end(leaving, 75);
  assert.equal((await cluster.job(jobId)).state, 'JOB_STATE_RUNNING');
  assert.equal(await cluster.node('leaving'), undefined);
  goOn();

  const job = await cluster.jobs.untilEnded(jobId);
  assert.deepEqual([job.state, job.digest], ['JOB_STATE_COMPLETE', digest]);
  assert.equal(job.counts!.attempts, shards + (await copies()) - copiesBefore);
});

test('a cancelled job leaves only its job.json, and its nodes are free for others', { skip: needsProc }, async (t) => {
  const out = join(folder, 'cancelled');
  const jobId = await cluster.jobs.submit({ sources: [source], out, tilePx: 64 });
  await cluster.halfWay(jobId);
  const goOn = pauseAll(cluster.nodes, t);
  const watch = new Halogrid(['watch', jobId, '--coordinator', cluster.address]);
  const running = JSON.parse((await cluster.halogrid(['status', jobId, '--json'])).stdout);
  assert.ok(running.percent >= 0 && running.percent < 100 && running.seconds > 0, JSON.stringify(running));
  const cancelled = await cluster.halogrid(['cancel', jobId]);
  goOn();
  assert.deepEqual([cancelled.code, cancelled.stdout], [0, `Job ${jobId} is cancelled.\n`], cancelled.stderr);
  const watched = await watch.ended;
  assert.equal(watched.code, 1);
  assert.match(watched.stderr, new RegExp(`^halogrid: Job ${jobId} was cancelled\n$`, 'm'));
  assert.equal(readJson(out, 'job.json').state, 'cancelled');
  const ended = (await cluster.halogrid(['status', jobId])).stdout;
  assert.match(ended, /^progress +ended at \d+ %, after .*s$/m);
  assert.match(ended, /^nodes +[12] nodes? took part$/m);
  await eventually('the output folder to be cleared', () => readdirSync(out).join() === 'job.json');
  await eventually('the leases to be given back', async () => {
    const nodes = await Promise.all(cluster.nodes.map(({ name }) => cluster.node(name)));
    return nodes.every((node) => node!.leases === 0);
  });

  // The same specification in the same folder again.
  const { code, stderr } = await cluster.halogrid(['run', source, ...tile, '--out', out]);
  assert.equal(code, 0, stderr);
  assert.equal(readJson(out, 'job.json').digest, digest);
});

test('the reasons why inputs were set aside are known while the job is, also after a restart', async () => {
  const mixed = join(folder, 'mixed');
  mkdirSync(mixed);
  for (const name of ['empty-1.png', 'empty-2.png']) writeFileSync(join(mixed, name), '');
  symlinkSync('nothing', join(mixed, 'link.png'));
  await writePgm(join(mixed, 'good.pgm'), drawPicture(20, 30));
  const out = join(folder, 'of-mixed');
  const { code, stdout, stderr } = await cluster.halogrid(['run', mixed, '--out', out, '--json']);
  assert.equal(code, 3, stderr);
  const { id, quarantine } = JSON.parse(stdout);
  assert.deepEqual(quarantine, readJson(out, 'job.json').quarantine);
  cluster.coordinator.signal('SIGKILL');
  await cluster.startCoordinatorAgain();
  const status = await cluster.halogrid(['status', id]);
  assert.match(status.stdout, /^quarantined +2 × decode: .*\n +1 × read: .*\/link\.png/m);
  const facts = JSON.parse((await cluster.halogrid(['status', id, '--json'])).stdout);
  assert.deepEqual(facts.quarantine, quarantine);
  assert.deepEqual((await cluster.job(id)).reasons, quarantine);
});
