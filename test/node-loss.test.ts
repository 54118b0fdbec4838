import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { hasEnded } from '@halogrid/proto';
import { eventually, standStill, within } from '@halogrid/testing';
import { Cluster, type ClusterNode } from './cluster.ts';
import { Halogrid } from './halogrid.ts';
import { lbpByDefinition } from './lbp-definition.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { hasProc, listeningPorts } from './process-list.ts';
import { readMetrics } from './read-metrics.ts';
import { hashFiles, readHistogram, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { slowFiles } from './slow-files.ts';
import { hasChunks } from './unfinished.ts';

// A node that gives wrong results, or is killed half-way, costs only time.

const skip = hasProc ? false : 'which process is the node is told by /proc';
const folder = scratchFolder();
const source = join(folder, 'picture.pgm');
const picture = drawPicture(480, 480);
const whole = join(folder, 'whole');
let digest: string;
let cluster: Cluster;

before(async () => {
  await writePgm(source, picture);
  cluster = await Cluster.start({ nodes: 0 });
  await Promise.all(['n1', 'n2'].map((name) => cluster.startNode(name, 'cpu', { env: slowFiles('picture.pgm') })));
  ({ digest } = await cluster.jobs.run({ sources: [source], out: whole, map: 'tiff' }));
  const { bins, counted } = lbpByDefinition(picture, 'interior', 'nw-cw-msb');
  assert.deepEqual(readHistogram(whole), { bins, counted });
});
after(() => cluster.stop());

// First, while both nodes are there.
test('a node with a wrong device is detected and sent away, and changes no result', async (t) => {
  const source = join(folder, 'checked.pgm');
  const picture = drawPicture(200, 200);
  await writePgm(source, picture);

  const program = fileURLToPath(new URL('lying-node.ts', import.meta.url));
  const liar = spawn(process.execPath, [program, cluster.address, 'liar'], { stdio: ['ignore', 'pipe', 'ignore'] });
  t.after(() => liar.kill('SIGKILL'));
  let said = '';
  liar.stdout.on('data', (text) => {
    said += text;
  });
  const gone = once(liar, 'exit');
  await eventually('the liar to be attached', () => cluster.node('liar'));

  const mismatches = async (name: string) =>
    (await readMetrics(cluster.http)).get(`halogrid_result_mismatches_total{node="${name}"}`);
  const pipelines = ['--pipeline', 'derivative=ldp:order=2', '--pipeline', 'codes=lbp'];
  const job = ['run', source, '--verify', '100%', '--tile', '32', ...pipelines];
  const { bins, counted } = lbpByDefinition(picture, 'interior', 'nw-cw-msb');
  // If the machine holds the liar up, the others may complete a job without it.
  for (let i = 0; i < 10 && (await mismatches('liar')) === 0; i++) {
    const out = join(folder, `checked-${i}`);
    const { code, stderr } = await cluster.halogrid([...job, '--out', out]);
    assert.equal(code, 0, stderr);
    assert.deepEqual(readHistogram(join(out, 'pipelines', 'codes')), { bins, counted });
  }

  assert.deepEqual(await within('the liar to end', gone), [1, null]);
  assert.match(said, /^The coordinator refuses this node: It gave another result for a shard than the reference/);
  assert.ok((await mismatches('liar'))! > 0);
  assert.equal(await mismatches('n1'), 0);
});

test('a node of a cluster killed half-way', { skip }, async () => {
  const [killed] = cluster.nodes;
  const { jobId, out } = await stopHalfWay(killed!);
  process.kill(killed!.pid, 'SIGKILL');

  const job = await cluster.jobs.untilEnded(jobId);
  assert.equal(job.state, 'JOB_STATE_COMPLETE', job.error);
  assert.equal(job.digest, digest);
  assert.deepEqual(hashFiles(out, 'maps'), hashFiles(whole, 'maps'));
  const { shards, attempts, quarantined } = job.counts!;
  assert.ok(attempts > shards, `${attempts} attempts at ${shards} shards: none was taken from the killed node`);
  assert.equal(quarantined, 0);
  assert.equal(await cluster.node(killed!.name), undefined);
});

/**
 * Runs jobs until one is caught half-way: the node has done some of its shards, holds others, and is stopped. On a busy
 * machine a job may end before this code looks.
 */
async function stopHalfWay(node: ClusterNode): Promise<{ jobId: string; out: string }> {
  const status = async () => (await cluster.node(node.name))!;
  for (let i = 0; i < 10; i++) {
    const out = join(folder, `half-${i}`);
    const { shardsDone: before } = await status();
    const jobId = await cluster.jobs.submit({ sources: [source], out, map: 'tiff', tilePx: 48 });
    await eventually(
      'results of the node, or the end of the job',
      async () => (await status()).shardsDone > before || hasEnded(await cluster.job(jobId)),
    );
    const goOn = standStill(node.pid);
    // The coordinator handles the node's earlier messages before its second answer.
    await status();
    if ((await status()).leases > 0) return { jobId, out };
    goOn();
    await cluster.jobs.untilEnded(jobId);
  }
  throw new Error(`No job was caught half-way on ${node.name}`);
}

test('a node of run killed half-way: it is started again', { skip }, async () => {
  const out = join(folder, 'run');
  const options = ['--out', out, '--map', 'tiff', '--tile', '48', '--device', 'cpu', '--nodes', '1', '--json'];
  const run = new Halogrid(['run', source, ...options], { env: slowFiles('picture.pgm') });
  // A node that did not serve yet would not be started again.
  const node = await eventually('results, and a node that is attached', async () => {
    if (!hasChunks(out)) return undefined;
    for (const pid of run.pidsOf('node')) if (await isReady(pid)) return pid;
    return undefined;
  });
  process.kill(node, 'SIGKILL');
  const { code, stdout, stderr } = await run.ended;
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^Node node-1 was ended by SIGKILL: it is restarted\.$/m);
  assert.equal(JSON.parse(stdout).digest, digest);
  assert.deepEqual(hashFiles(out, 'maps'), hashFiles(whole, 'maps'));
  assert.equal(readJson(out, 'job.json').state, 'complete');
});

async function isReady(pid: number): Promise<boolean> {
  const [port] = listeningPorts(pid);
  return port !== undefined && (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
}
