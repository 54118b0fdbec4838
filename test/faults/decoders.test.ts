import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeVideo, noFfmpeg, videoKinds } from '@halogrid/imaging/testing-videos';
import type { JobStatus } from '@halogrid/proto';
import { eventually, timeoutMs } from '@halogrid/testing';
import { Cluster, type ClusterNode, startNode } from '../cluster.ts';
import { processesWith } from '../process-list.ts';
import { readErrors, readJson } from '../results.ts';
import { scratchFolder } from '../scratch-folder.ts';
import { type NodeFaults, withFaults } from './node-hooks.ts';

// Nodes without a decoder, or with a decoder that crashes or hangs: their inputs go to other nodes, and none is lost.

const folder = scratchFolder();
const jpegs = fileURLToPath(new URL('../../samples/frames', import.meta.url));
const videos = join(folder, 'videos');
const decoderTimeoutMs = timeoutMs(2_500);

let cluster: Cluster;
let jobs = 0;

before(async () => {
  mkdirSync(videos);
  if (!noFfmpeg) makeVideo(join(videos, 'a.mp4'), videoKinds['h264.mp4']!);
  cluster = await Cluster.start({ nodes: 1, options: ['--node-grace', String(timeoutMs(1_000))] });
});
beforeEach(async () => {
  for (const node of cluster.nodes.splice(1)) {
    node.program.signal('SIGTERM');
    await node.program.ended;
  }
});
after(async () => {
  await cluster.stop();
});

async function run(source: string): Promise<JobStatus & { out: string }> {
  const out = join(folder, `out-${++jobs}`);
  const jobId = await cluster.jobs.submit({ sources: [source], out, batchFrames: 2 });
  return { ...(await cluster.jobs.untilEnded(jobId)), out };
}

const digests = new Map<string, string>();

/** The digest of a source, computed by the good node alone. */
async function digestOf(source: string): Promise<string> {
  let digest = digests.get(source);
  if (digest === undefined) {
    const alone = await run(source);
    assert.equal(alone.state, 'JOB_STATE_COMPLETE', alone.error);
    digest = alone.digest;
    digests.set(source, digest);
  }
  return digest;
}

async function attach(name: string, faults: NodeFaults): Promise<ClusterNode> {
  const options = ['--decoder-timeout', String(decoderTimeoutMs)];
  return cluster.adopt(await startNode(cluster.address, name, 'cpu', options, { env: withFaults(faults) }));
}

const table: { name: string; faults: NodeFaults; source: string; lacks: string[]; skip: string | false }[] = [
  {
    name: 'a node without FFmpeg gets no videos',
    faults: { missing: ['@seydx/'] },
    source: videos,
    lacks: ['decode video'],
    skip: noFfmpeg,
  },
  {
    name: 'a node without libturbojpeg gets no JPEGs',
    faults: { missing: ['@julusian/'] },
    source: jpegs,
    lacks: ['decode jpeg'],
    skip: false,
  },
  {
    name: 'a node whose decoders hang loses no video',
    faults: { decodersHang: 'a.mp4' },
    source: videos,
    lacks: [],
    skip: noFfmpeg,
  },
  {
    name: 'a node whose decoders break down loses no video',
    faults: { decodersBreak: true },
    source: videos,
    lacks: [],
    skip: noFfmpeg,
  },
];

for (const { name, faults, source, lacks, skip } of table) {
  test(name, { skip }, async () => {
    const alone = await digestOf(source);
    await attach('bad', faults);
    const { state, error, counts, digest, out } = await run(source);
    assert.deepEqual([state, error, counts!.quarantined, digest], ['JOB_STATE_COMPLETE', '', 0, alone]);
    const nodes: { name: string; shards: number }[] = readJson(out, 'job.json').nodes;
    assert.deepEqual(
      nodes.map((node) => node.name),
      ['n1'],
    );
    const needs = (await cluster.node('bad'))!.lacks.map(({ need }) => need);
    assert.deepEqual(needs, lacks);
  });
}

test('a single node without a decoder: the job ends with a sentence, and nothing is quarantined', async () => {
  await attach('bad', { missing: ['@julusian/'] });
  const [good] = cluster.nodes;
  good!.program.signal('SIGTERM');
  await good!.program.ended;
  cluster.nodes.shift();
  const { state, error, counts } = await run(jpegs);
  assert.deepEqual([state, counts!.quarantined], ['JOB_STATE_FAILED', 0]);
  assert.match(error, /^No attached node can decode JPEGs: node 'bad': JPEGs cannot be read here: the package/);
});

test('recordings on which every decoder hangs or dies are set aside, and no decoder outlives its node', {
  skip: noFfmpeg,
}, async () => {
  const recordings = join(folder, 'recordings');
  for (const name of ['fine.mp4', 'dies.mp4', 'hangs.mp4']) cpSync(join(videos, 'a.mp4'), join(recordings, name));
  const faults = { decodersHang: 'hangs.mp4', decodersDie: 'dies.mp4' };
  const nodes = [await attach('one', faults), await attach('two', faults)];
  for (const name of ['n1', 'bad']) {
    const at = cluster.nodes.findIndex((node) => node.name === name);
    const [other] = at < 0 ? [] : cluster.nodes.splice(at, 1);
    other?.program.signal('SIGTERM');
    await other?.program.ended;
  }
  const out = join(folder, 'out-hangs');
  const jobId = await cluster.jobs.submit({ sources: [recordings], out });
  const { state, counts } = await cluster.jobs.untilEnded(jobId);
  assert.deepEqual([state, counts!.frames, counts!.quarantined], ['JOB_STATE_COMPLETE', 48, 96]);
  for (const { uri, stage, error, attempts } of readErrors(out)) {
    const why = uri.endsWith('/hangs.mp4')
      ? `The decoder gave nothing for ${decoderTimeoutMs / 1000} s and was ended`
      : 'The decoder broke down: it was ended by SIGSEGV';
    assert.deepEqual([stage, error], ['compute', why]);
    assert.ok(attempts >= 3);
  }

  await cluster.jobs.submit({ sources: [join(recordings, 'hangs.mp4')], out: join(folder, 'out-killed') });
  const setting = `HALOGRID_TEST_FAULTS=${JSON.stringify(faults)}`;
  await eventually('a decoder stands still', () => processesWith(setting).some(({ pid }) => isStopped(pid)));
  for (const { program } of nodes) program.signal('SIGKILL');
  await eventually('no process is left', () => processesWith(setting).length === 0);
});

function isStopped(pid: number): boolean {
  try {
    return /^State:\s*T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
