import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeVideo, noFfmpeg, videoKinds } from '@halogrid/imaging/testing-videos';
import type { JobStatus } from '@halogrid/proto';
import { eventually, isStopped, timeoutMs } from '@halogrid/testing';
import { Cluster, type ClusterNode, startNode } from '../cluster.ts';
import { get } from '../get.ts';
import type { HalogridOptions } from '../halogrid.ts';
import { drawPicture, writePgm } from '../picture-files.ts';
import { processesWith } from '../process-list.ts';
import { readMetrics } from '../read-metrics.ts';
import { readErrors, readJson } from '../results.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { slowFiles } from '../slow-files.ts';
import {
  bind,
  canBind,
  canMount,
  mountIn,
  unbind,
  withBrokenDisk,
  withOther,
  withOwnMounts,
  withoutMount,
} from './blind-node.ts';
import { type NodeFaults, withFaults } from './node-hooks.ts';

// Nodes that do not see the files that the coordinator has listed, or cannot decode them, lose no input, and are named.

const count = Number(process.env.HALOGRID_BLIND_FRAMES ?? 120);
const folder = scratchFolder();
const archive = join(folder, 'archive');
const brokenDisk = withBrokenDisk('/archive/');
const cannotBind = canBind() ? false : 'this user may not mount folders';
const skip = canMount() ? false : 'this user may not make mounts of its own';

let cluster: Cluster;
let digest: string;
let jobs = 0;

before(async () => {
  mkdirSync(archive);
  for (let i = 0; i < count; i++) await writePgm(join(archive, `frame-${i}.pgm`), drawPicture(32, 24, i + 1));
  cluster = await Cluster.start({ nodes: 0, options: ['--node-grace', String(timeoutMs(1_000))] });
  await cluster.startNode('good', 'cpu', { env: slowFiles('/shared/') });
  const { out } = await run();
  digest = readJson(out, 'job.json').digest;
});

after(async () => {
  await cluster.stop();
});

async function end(name: string): Promise<void> {
  const node = nodeOf(name);
  if (!node) return;
  cluster.nodes.splice(cluster.nodes.indexOf(node), 1);
  node.program.signal('SIGTERM');
  await node.program.ended;
}

/** Starts a node beside the good one, and waits until it is attached. */
async function attach(name: string, more: readonly string[] = [], process: HalogridOptions = {}): Promise<ClusterNode> {
  return cluster.adopt(await startNode(cluster.address, name, 'cpu', more, process));
}

/** Runs the program over the archive, as a user does, in batches of six frames. */
async function run(...more: string[]): Promise<{ out: string; code: number | null; stdout: string; stderr: string }> {
  const out = join(folder, `out-${++jobs}`);
  const ended = await cluster.halogrid(['run', archive, '--batch', '6', '--out', out, ...more]);
  return { out, ...ended };
}

/** Asserts that every frame is merged, as with only the good node. */
function assertWhole({ out, code, stderr }: Awaited<ReturnType<typeof run>>): void {
  assert.equal(code, 0, stderr);
  const job = readJson(out, 'job.json');
  assert.deepEqual([job.counts.frames, job.counts.quarantined, job.digest], [count, 0, digest]);
}

/** Asserts that the node is named in what `halogrid nodes` printed, in the API, and in the metric of an alert. */
async function assertNamed(name: string, reason: RegExp, listed: string): Promise<void> {
  assert.match(listed, new RegExp(`${name}[^]*cannot read ${archive}: ${reason.source}`));
  const node = await cluster.node(name);
  assert.match(node!.lacks[0]!.reason, reason);
  assert.ok((await readMetrics(cluster.http)).get(`halogrid_node_lacks{node="${name}"}`)! > 0);
}

const blindTest = (name: string, options: { skip?: string | false }, act: () => Promise<void>) =>
  test(name, options, act);

blindTest(
  'nodes with another data root, another folder, a broken disk or none lose nothing, and are named',
  {},
  async () => {
    const otherRoot = join(folder, 'other-root');
    mkdirSync(otherRoot);
    const reasons: Record<string, RegExp> = { rooted: /The path lies outside of the data roots/ };
    const starting = [attach('rooted', ['--data-root', otherRoot])];
    if (!skip) {
      const other = join(folder, 'other');
      copyOtherwise(other);
      reasons.deceived = /It is another file there/;
      starting.push(attach('deceived', [], { within: withOther(archive, other) }));
      reasons.mounting = /The file does not exist/;
      starting.push(attach('mounting', [], { within: withOwnMounts }));
    }
    if (brokenDisk) {
      reasons.broken = /The file cannot be read: input\/output error/;
      starting.push(attach('broken', [], { env: brokenDisk }));
    }
    await Promise.all(starting);
    hide('mounting');
    assertWhole(await run());
    const { stdout } = await cluster.halogrid(['nodes']);
    for (const [name, reason] of Object.entries(reasons)) await assertNamed(name, reason, stdout);
    for (const name of ['rooted', 'deceived', 'broken']) await end(name);
  },
);

/** Copies the archive with other pixels in files of the same names, sizes and times. */
function copyOtherwise(other: string): void {
  cpSync(archive, other, { recursive: true, preserveTimestamps: true });
  for (const name of readdirSync(other)) {
    const path = join(other, name);
    const bytes = readFileSync(path);
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(path, bytes);
    copyTimes(join(archive, name), path);
  }
}

/** Makes a node that has private mounts, if there is one, see an empty folder in the place of the archive. */
function hide(name: string): void {
  const node = nodeOf(name);
  if (node) mountIn(node.pid, 'mount', '-t', 'tmpfs', 'none', archive);
}

/** Undoes `hide`. */
function show(name: string): void {
  mountIn(nodeOf(name)!.pid, 'umount', '-l', archive);
}

const nodeOf = (name: string): ClusterNode | undefined => cluster.nodes.find((node) => node.name === name);

/** The node with private mounts, which sees the archive. */
async function mountingNode(): Promise<string> {
  if (nodeOf('mounting')) show('mounting');
  else await attach('mounting', [], { within: withOwnMounts });
  return 'mounting';
}

/** Gives both files the same times, in whole seconds: `utimes` of Node cannot set nanoseconds. */
function copyTimes(from: string, to: string): void {
  const whole = 1_700_000_000;
  utimesSync(from, whole, whole);
  utimesSync(to, whole, whole);
}

blindTest('a folder that vanishes half-way on a node, and comes back', { skip }, async () => {
  const bad = await mountingNode();
  const out = join(folder, 'half-way');
  const jobId = await cluster.jobs.submit({ sources: [archive], out, batchFrames: 1 });
  await cluster.halfWay(jobId);
  hide(bad);
  await eventually('the node to miss the folder, or the job to be over without it', async () => {
    const [node, job] = await Promise.all([cluster.node(bad), cluster.job(jobId)]);
    return node!.lacks.length > 0 || String(job.state) === 'JOB_STATE_COMPLETE';
  });
  show(bad);
  const job = await cluster.jobs.untilEnded(jobId);
  assert.deepEqual([job.state, job.error, job.counts!.quarantined], ['JOB_STATE_COMPLETE', '', 0]);
  assert.equal(readJson(out, 'job.json').digest, digest);
  await end(bad);
});

blindTest(
  'a folder that vanishes half-way everywhere, and comes back: the job waits',
  { skip: cannotBind },
  async () => {
    const shared = join(folder, 'shared');
    mkdirSync(shared);
    bind(archive, shared);
    try {
      const out = join(folder, 'everywhere');
      const words = ['submit', shared, '--out', out, '--batch', '1', '--wait-for-node'];
      const jobId = (await cluster.halogrid(words)).stdout.trim();
      await cluster.halfWay(jobId);
      unbind(shared);
      const { waiting } = await eventually('the job to wait', async () => {
        const job = await cluster.job(jobId);
        return job.waiting ? job : undefined;
      });
      assert.match(
        waiting,
        /No attached node can read '.*\/shared': node 'good': (The file does not exist|the coordinator)/,
      );
      bind(archive, shared);
      const job = await cluster.jobs.untilEnded(jobId);
      assert.deepEqual([job.state, job.error, job.counts!.quarantined], ['JOB_STATE_COMPLETE', '', 0]);
      assert.equal(readJson(out, 'job.json').digest, digest);
    } finally {
      unbind(shared);
    }
  },
);

blindTest(
  'files that neither the nodes nor the coordinator have, named in a manifest, are quarantined, and nothing else',
  {},
  async () => {
    const manifest = join(folder, 'list.txt');
    writeFileSync(manifest, `archive/frame-0.pgm\n/nowhere/at/all.pgm\narchive/gone.pgm\n`);
    const out = join(folder, 'out-manifest');
    const { code } = await cluster.halogrid(['run', manifest, '--out', out]);
    assert.equal(code, 3);
    const errors = readErrors(out).map(({ uri, error }) => [uri.replace(/^file:\/\//, ''), error]);
    assert.deepEqual(errors, [
      ['/nowhere/at/all.pgm', 'The file does not exist'],
      [join(archive, 'gone.pgm'), 'The file does not exist'],
    ]);
  },
);

const jpegs = fileURLToPath(new URL('../../samples/frames', import.meta.url));
const recordings = join(folder, 'recordings');
const decoderTimeoutMs = timeoutMs(2_500);
const badDecoders = { decodersHang: 'hangs.mp4', decodersDie: 'dies.mp4' };

const attachWith = (name: string, faults: NodeFaults) =>
  attach(name, ['--decoder-timeout', String(decoderTimeoutMs)], { env: withFaults(faults) });

async function decode(source: string): Promise<JobStatus & { out: string; by: string[] }> {
  const out = join(folder, `out-${++jobs}`);
  const jobId = await cluster.jobs.submit({ sources: [source], out, batchFrames: 2 });
  const job = await cluster.jobs.untilEnded(jobId);
  const nodes: { name: string }[] = job.state === 'JOB_STATE_COMPLETE' ? readJson(out, 'job.json').nodes : [];
  return { ...job, out, by: nodes.map(({ name }) => name) };
}

test('nodes without decoders get nothing to decode, and those whose decoders hang, die or break down lose nothing', async () => {
  if (!noFfmpeg) {
    mkdirSync(recordings);
    makeVideo(join(recordings, 'fine.mp4'), videoKinds['h264.mp4']!);
    for (const name of ['dies.mp4', 'hangs.mp4']) cpSync(join(recordings, 'fine.mp4'), join(recordings, name));
  }
  const sources = noFfmpeg ? [jpegs] : [jpegs, recordings];
  const alone: string[] = [];
  for (const source of sources) alone.push((await decode(source)).digest);
  const lacks: Record<string, string[]> = { without: ['decode jpeg', 'decode video'], breaking: [], one: [] };
  await Promise.all([
    attachWith('without', { missing: ['@seydx/', '@julusian/'] }),
    attachWith('breaking', { decodersBreak: true }),
    attachWith('one', badDecoders),
  ]);
  for (const [i, source] of sources.entries()) {
    const { state, error, counts, digest, by } = await decode(source);
    assert.deepEqual([state, error, counts!.quarantined, digest], ['JOB_STATE_COMPLETE', '', 0, alone[i]]);
    assert.ok(!by.includes('without'), `computed by ${by}`);
    assert.ok(source === jpegs || !by.includes('breaking'), `computed by ${by}`);
  }
  for (const [name, needs] of Object.entries(lacks)) {
    const node = await cluster.node(name);
    assert.deepEqual(node!.lacks.map(({ need }) => need).sort(), needs, name);
  }
  await end('breaking');
});

test('recordings on which every decoder hangs or dies are set aside, and no decoder outlives its node', {
  skip: noFfmpeg,
}, async () => {
  await attachWith('two', badDecoders);
  await end('good');
  const { state, counts, out } = await decode(recordings);
  assert.deepEqual([state, counts!.frames, counts!.quarantined], ['JOB_STATE_COMPLETE', 48, 96]);
  for (const { uri, stage, error, attempts } of readErrors(out)) {
    const why = uri.endsWith('/hangs.mp4')
      ? `The decoder gave nothing for ${decoderTimeoutMs / 1000} s and was ended`
      : 'The decoder broke down: it was ended by SIGSEGV';
    assert.deepEqual([stage, error], ['compute', why]);
    assert.ok(attempts >= 3);
  }

  await cluster.jobs.submit({ sources: [join(recordings, 'hangs.mp4')], out: join(folder, 'out-killed') });
  const setting = `HALOGRID_TEST_FAULTS=${JSON.stringify(badDecoders)}`;
  await eventually('a decoder stands still', () => processesWith(setting).some(({ pid }) => isStopped(pid)));
  for (const name of ['one', 'two']) nodeOf(name)!.program.signal('SIGKILL');
  await eventually('no process is left', () => processesWith(setting).length === 0);
});

test('a single node without a decoder: the job ends with a sentence, and nothing is quarantined', async () => {
  for (const { name } of [...cluster.nodes]) if (name !== 'without') await end(name);
  const { state, error, counts } = await decode(jpegs);
  assert.deepEqual([state, counts!.quarantined], ['JOB_STATE_FAILED', 0]);
  assert.match(error, /^No attached node can decode JPEGs: node 'without': JPEGs cannot be read here: the package/);
});

blindTest(
  'nodes that see nothing: jobs end with a sentence or wait for a node, and nothing is quarantined',
  {
    skip,
  },
  async () => {
    const shrinking = join(folder, 'shrinking');
    mkdirSync(shrinking);
    for (let i = 0; i < 40; i++) await writePgm(join(shrinking, `frame-${i}.pgm`), drawPicture(32, 24, i + 1));
    for (const { name } of [...cluster.nodes]) await end(name);
    const outShrinking = join(folder, 'out-shrinking');
    const shrunk = await cluster.jobs.submit({ sources: [shrinking], out: outShrinking, batchFrames: 1 });
    await eventually('the plan', async () => (await cluster.job(shrunk)).planned);
    for (const i of [0, 1, 2, 20]) rmSync(join(shrinking, `frame-${i}.pgm`));

    await attach('bad', [], { within: withoutMount(archive) });
    const { out, code, stderr } = await run();
    assert.equal(code, 1, stderr);
    assert.match(stderr, new RegExp(`No attached node can read '${archive}': node 'bad': The file does not exist`));
    assert.match(stderr, /mount the folder there.*have the job wait for a node/);
    const failed = readJson(out, 'job.json');
    assert.deepEqual([failed.state, existsSync(join(out, 'errors.jsonl'))], ['failed', false]);
    // Another job is not affected: only its files that were deleted after they were listed are set aside, although
    // nodes are probed with them.
    const job = await cluster.jobs.untilEnded(shrunk);
    assert.deepEqual([job.state, job.counts!.frames, job.counts!.quarantined], ['JOB_STATE_COMPLETE', 36, 4]);

    const running = run('--wait-for-node');
    await eventually('the job to say what it waits for', async () => {
      return /cannot|can read/.test(await (await get(`${cluster.http}/api/v1/jobs`)).text());
    });
    await attach('good');
    assertWhole(await running);
    await assertNamed('bad', /The file does not exist/, (await cluster.halogrid(['nodes'])).stdout);
  },
);
