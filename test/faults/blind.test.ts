import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { eventually, timeoutMs } from '@halogrid/testing';
import { Cluster, type ClusterNode, startNode } from '../cluster.ts';
import type { HalogridOptions } from '../halogrid.ts';
import { drawPicture, writePgm } from '../picture-files.ts';
import { readMetrics } from '../read-metrics.ts';
import { readErrors, readJson } from '../results.ts';
import { scratchFolder } from '../scratch-folder.ts';
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

// Nodes that do not see the files that the coordinator has listed lose no input, and are named.

const count = Number(process.env.HALOGRID_BLIND_FRAMES ?? 120);
const folder = scratchFolder();
const archive = join(folder, 'archive');
const brokenDisk = withBrokenDisk('/archive/');
const cannotBind = canBind() ? false : 'this user may not mount folders';
const skip = canMount() ? false : 'this user may not make mounts of its own';

let cluster: Cluster;
let good: ClusterNode | undefined;
let digest: string;
let jobs = 0;

before(async () => {
  mkdirSync(archive);
  for (let i = 0; i < count; i++) await writePgm(join(archive, `frame-${i}.pgm`), drawPicture(32, 24, i + 1));
  cluster = await Cluster.start({ nodes: 0, options: ['--node-grace', String(timeoutMs(1_000))] });
  good = await cluster.startNode('good');
  const { out } = await run();
  digest = readJson(out, 'job.json').digest;
});

beforeEach(async () => {
  for (const node of [...cluster.nodes]) if (node !== good) await end(node);
  good ??= await cluster.startNode('good');
});

after(async () => {
  await cluster.stop();
});

async function end(node: ClusterNode): Promise<void> {
  cluster.nodes.splice(cluster.nodes.indexOf(node), 1);
  if (node === good) good = undefined;
  node.program.signal('SIGTERM');
  await node.program.ended;
}

/** Starts a node beside the good one, and waits until it is attached. */
async function attach(name: string, more: readonly string[] = [], process: HalogridOptions = {}): Promise<ClusterNode> {
  return cluster.adopt(await startNode(cluster.address, name, 'cpu', more, process));
}

/** Runs the program over the archive, as a user does, in batches of four frames. */
async function run(...more: string[]): Promise<{ out: string; code: number | null; stdout: string; stderr: string }> {
  const out = join(folder, `out-${++jobs}`);
  const ended = await cluster.halogrid(['run', archive, '--batch', '4', '--out', out, ...more]);
  return { out, ...ended };
}

/** Asserts that every frame is merged, as with only the good node. */
function assertWhole({ out, code, stderr }: Awaited<ReturnType<typeof run>>): void {
  assert.equal(code, 0, stderr);
  const job = readJson(out, 'job.json');
  assert.deepEqual([job.counts.frames, job.counts.quarantined, job.digest], [count, 0, digest]);
}

/** Asserts that the node is named in the list of nodes, in the API, and in the metric of an alert. */
async function assertNamed(name: string, reason: RegExp): Promise<void> {
  const { stdout } = await cluster.halogrid(['nodes']);
  assert.match(stdout, new RegExp(`${name}[^]*cannot read ${archive}: ${reason.source}`));
  const node = await cluster.node(name);
  assert.match(node!.lacks[0]!.reason, reason);
  assert.ok((await readMetrics(cluster.http)).get(`halogrid_node_lacks{node="${name}"}`)! > 0);
}

const blindTest = (name: string, options: { skip?: string | false }, act: () => Promise<void>) =>
  test(name, options, act);

blindTest('a node with another data root loses nothing', {}, async () => {
  const other = join(folder, 'other-root');
  mkdirSync(other);
  await attach('bad', ['--data-root', other]);
  assertWhole(await run());
  await assertNamed('bad', /The path lies outside of the data roots/);
});

blindTest('a node on which the folder is not mounted loses nothing', { skip }, async () => {
  await attach('bad', [], { within: withoutMount(archive) });
  assertWhole(await run());
  await assertNamed('bad', /The file does not exist/);
});

blindTest('a node that sees other content under the same names, sizes and times loses nothing', { skip }, async () => {
  const other = join(folder, 'other');
  cpSync(archive, other, { recursive: true, preserveTimestamps: true });
  for (const name of readdirSync(other)) {
    const path = join(other, name);
    const bytes = readFileSync(path);
    bytes[bytes.length - 1]! ^= 1;
    writeFileSync(path, bytes);
    copyTimes(join(archive, name), path);
  }
  await attach('bad', [], { within: withOther(archive, other) });
  assertWhole(await run());
  await assertNamed('bad', /It is another file there/);
});

/** Gives both files the same times, in whole seconds: `utimes` of Node cannot set nanoseconds. */
function copyTimes(from: string, to: string): void {
  const whole = 1_700_000_000;
  utimesSync(from, whole, whole);
  utimesSync(to, whole, whole);
}

blindTest(
  'a node whose disk fails to read loses nothing',
  { skip: brokenDisk ? false : 'there is no C compiler' },
  async () => {
    await attach('bad', [], { env: brokenDisk });
    assertWhole(await run());
    await assertNamed('bad', /The file cannot be read: input\/output error/);
  },
);

blindTest('a job with --wait-for-node waits for a good node if there is only a bad one', { skip }, async () => {
  await end(good!);
  await attach('bad', [], { within: withoutMount(archive) });
  const running = run('--wait-for-node');
  await eventually('the job to say what it waits for', async () => {
    const { stdout } = await cluster.halogrid(['jobs', '--json']);
    return /cannot|can read/.test(stdout);
  });
  good = await cluster.startNode('good');
  assertWhole(await running);
  await assertNamed('bad', /The file does not exist/);
});

blindTest('a folder that vanishes half-way on a node, and comes back', { skip }, async () => {
  const node = await attach('bad', [], { within: withOwnMounts });
  const out = join(folder, 'half-way');
  const jobId = await cluster.jobs.submit({ sources: [archive], out, batchFrames: 1 });
  await cluster.halfWay(jobId);
  mountIn(node.pid, 'mount', '-t', 'tmpfs', 'none', archive);
  await eventually('the node to miss the folder, or the job to be over without it', async () => {
    const [node, job] = await Promise.all([cluster.node('bad'), cluster.job(jobId)]);
    return node!.lacks.length > 0 || String(job.state) === 'JOB_STATE_COMPLETE';
  });
  mountIn(node.pid, 'umount', '-l', archive);
  const job = await cluster.jobs.untilEnded(jobId);
  assert.deepEqual([job.state, job.error, job.counts!.quarantined], ['JOB_STATE_COMPLETE', '', 0]);
  assert.equal(readJson(out, 'job.json').digest, digest);
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
  'a single node that sees nothing: the job ends with a sentence, and nothing is quarantined',
  { skip },
  async () => {
    await end(good!);
    await attach('bad', [], { within: withoutMount(archive) });
    const { out, code, stderr } = await run();
    assert.equal(code, 1, stderr);
    assert.match(stderr, new RegExp(`No attached node can read '${archive}': node 'bad': The file does not exist`));
    assert.match(stderr, /mount the folder there.*have the job wait for a node/);
    const job = readJson(out, 'job.json');
    assert.deepEqual([job.state, existsSync(join(out, 'errors.jsonl'))], ['failed', false]);
    // Other jobs are not affected.
    const seen = join(folder, 'seen');
    mkdirSync(seen, { recursive: true });
    await writePgm(join(seen, 'a.pgm'), drawPicture(32, 24, 1));
    await cluster.jobs.run({ sources: [seen], out: join(folder, 'out-seen') });
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

blindTest(
  'a file that is deleted after it was listed is quarantined, also if nodes are probed with it',
  {},
  async () => {
    const shrinking = join(folder, 'shrinking');
    mkdirSync(shrinking);
    for (let i = 0; i < 40; i++) await writePgm(join(shrinking, `frame-${i}.pgm`), drawPicture(32, 24, i + 1));
    await end(good!);
    const out = join(folder, 'out-shrinking');
    const jobId = await cluster.jobs.submit({ sources: [shrinking], out, batchFrames: 1 });
    await eventually('the plan', async () => (await cluster.job(jobId)).planned);
    for (const i of [0, 1, 2, 20]) rmSync(join(shrinking, `frame-${i}.pgm`));
    good = await cluster.startNode('good');
    const job = await cluster.jobs.untilEnded(jobId);
    assert.deepEqual([job.state, job.counts!.frames, job.counts!.quarantined], ['JOB_STATE_COMPLETE', 36, 4]);
  },
);
