import assert from 'node:assert/strict';
import { mkdirSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { describeTimeSpent, whereTimeWent } from '@halogrid/console/words/where-time-went.js';
import type { JobStatus } from '@halogrid/proto';
import { sendFile, startServer, type TestServer } from '@halogrid/sources/testing-servers';
import { eventually } from '@halogrid/testing';
import sharp from 'sharp';
import { Cluster } from './cluster.ts';
import { withFaults } from './faults/node-hooks.ts';
import { TcpProxy } from './faults/tcp-proxy.ts';
import type { JobRequest } from './jobs-client.ts';
import type { Picture } from './lbp-definition.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { readMetrics } from './read-metrics.ts';
import { scratchFolder } from './scratch-folder.ts';

// The reported bottleneck of a job, in five cases with a known one. The slowed stage takes several times as long as the
// whole job does normally.

const folder = scratchFolder();
const folders = {
  png: join(folder, 'png'),
  slow: join(folder, 'slow'),
  large: join(folder, 'large'),
  tiny: join(folder, 'tiny'),
};
const pngs = 32;
let cluster: Cluster;
let server: TestServer;
let proxy: TcpProxy;
let names: string[];

before(async () => {
  for (const path of Object.values(folders)) mkdirSync(path);
  const png = await toPng(drawPicture(3 * 1400, 1050));
  const many = (count: number, write: (i: number) => Promise<unknown>) =>
    Promise.all(Array.from({ length: count }, (_, i) => write(i)));
  await many(pngs, (i) => writeFile(join(folders.png, `${i}.png`), png));
  await many(40, (i) => writePgm(join(folders.slow, `${i}.pgm`), drawPicture(64, 48, i)));
  await many(4, (i) => writePgm(join(folders.large, `${i}.pgm`), drawPicture(1600, 1200, i)));
  await many(40, (i) => writePgm(join(folders.tiny, `${i}.pgm`), drawPicture(16, 12, i)));
  names = Array.from({ length: pngs / 4 }, (_, i) => `${i}.png`);
  server = await startServer(async (request, response) => {
    const bytes = await readFile(join(folders.png, basename(request.url!)));
    sendFile({ bytes, etag: `"${basename(request.url!)}"` }, request, response);
  });
  proxy = await TcpProxy.start(new URL(server.origin).host);
  cluster = await Cluster.start();
  await warmUp(cluster);
});
after(async () => {
  await cluster.stop();
  await proxy.close();
  await server.close();
});

test('slow decoding', async () => {
  await expectBound('decode', cluster, { sources: [folders.png], batchFrames: 4 });
});

test('a slow device', async () => {
  const operations: JobRequest['operations'] = [
    { kernel: 'conv', parameters: { kernel: 'gaussian-21', as: 'u8' } },
    { kernel: 'ldp', parameters: { order: '4' } },
  ];
  await expectBound('device', cluster, { sources: [folders.large], batchFrames: 1, operations });
});

test('a throttled link', async () => {
  const sources = names.map((name) => `http://${proxy.address}/${name}`);
  const request = { sources, batchFrames: 2 };
  const bytes = names.length * statSync(join(folders.png, names[0]!)).size;
  proxy.set({ down: { bytesPerSecond: Math.min(3_000_000, (1000 * bytes) / (5 * (await msOf(cluster, request)))) } });
  const job = await cluster.jobs.run({ ...request, out: join(folder, `out-${++jobs}`) });
  // The coordinator waits for the link, too: it reads these PNGs before nodes do. So the start may have taken longest.
  const { bound, binding } = whereTimeWent(job)!;
  assert.ok(bound === 'network' || bound === 'start', bound);
  const [most] = Object.entries(binding!).reduce((a, b) => (b[1] > a[1] ? b : a));
  assert.equal(most, 'network', JSON.stringify(binding));
});

test('a busy coordinator', async () => {
  const request = { sources: [folders.tiny], batchFrames: 1 };
  const blocksMs = Math.ceil(Math.max(250, (await msOf(cluster, request)) / 4));
  // The node stays, and so does what it has loaded.
  cluster.coordinator.signal('SIGTERM');
  await cluster.startCoordinatorAgain(withFaults({ blocksMs }));
  await eventually('the node to be attached again', () => cluster.node('n1'));
  const jobId = await cluster.jobs.submit({ ...request, out: join(folder, 'out-of-busy') });
  cluster.coordinator.signal('SIGUSR2');
  await eventually('most of the job', async () => {
    const { shards, shardsDone } = (await cluster.job(jobId)).counts!;
    return shardsDone > (shards * 3) / 4;
  });
  // Writing the output at the end would take longer than everything else.
  cluster.coordinator.signal('SIGUSR2');
  expectBoundOf('coordinator', await cluster.jobs.untilEnded(jobId));
});

test('a slow disk; and the metrics of the node say the same', async () => {
  const request = { sources: [folders.slow], batchFrames: 4 };
  const slowOpenMs = Math.max(500, await msOf(cluster, request));
  const [fast] = cluster.nodes.splice(0);
  fast!.program.signal('SIGTERM');
  await fast!.program.ended;
  const { http } = await cluster.startNode('slow', 'cpu', {
    env: withFaults({ open: { [folders.slow]: slowOpenMs } }),
  });
  await warmUp(cluster);
  const binding = async () => {
    const metrics = await readMetrics(http);
    return (stage: string) => metrics.get(`halogrid_node_binding_seconds_total{stage="${stage}"}`)!;
  };
  const from = await binding();
  await expectBound('read', cluster, request);
  const to = await binding();
  const stages = ['network', 'read', 'decode', 'device', 'encode', 'node'];
  const most = stages.toSorted((a, b) => to(b) - from(b) - (to(a) - from(a)));
  assert.equal(most[0], 'read');
});

let jobs = 0;

/** How many milliseconds a job takes without slowing, by the coordinator's clock. */
async function msOf(on: Cluster, request: Omit<JobRequest, 'out'>): Promise<number> {
  const { submittedMs, finishedMs } = await on.jobs.run({ ...request, out: join(folder, `out-${++jobs}`) });
  return finishedMs - submittedMs;
}

/** Runs a job first, so that device threads are started and decoders loaded: this takes as long as a job. */
async function warmUp(on: Cluster): Promise<void> {
  const sources = [folders.large, join(folders.png, '0.png')];
  await on.jobs.run({ sources, batchFrames: 1, out: join(folder, `out-${++jobs}`) });
}

/** Runs a job, and checks its bottleneck. */
async function expectBound(bound: string, on: Cluster, request: Omit<JobRequest, 'out'>): Promise<void> {
  expectBoundOf(bound, await on.jobs.run({ ...request, out: join(folder, `out-${++jobs}`) }));
}

function expectBoundOf(bound: string, job: JobStatus): void {
  const spent = whereTimeWent(job);
  assert.equal(spent?.bound, bound, `${describeTimeSpent(spent).join()} ${JSON.stringify(spent)}`);
}

/** A PNG in colour, which takes three times as long to decode and no longer to compute. */
function toPng({ width, height, pixels }: Picture): Promise<Buffer> {
  return sharp(pixels, { raw: { width: width / 3, height, channels: 3 } })
    .png()
    .toBuffer();
}
