import assert from 'node:assert/strict';
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { sendFile, startServer } from '@halogrid/sources/testing-servers';
import { eventually, timeoutMs } from '@halogrid/testing';
import { readMetrics } from '../read-metrics.ts';
import { hashFiles, readErrors, readHistogram, readJson } from '../results.ts';
import { FaultCluster, type StartedJob, skip } from './fault-cluster.ts';
import { withFaults } from './node-hooks.ts';
import { TcpProxy } from './tcp-proxy.ts';

// One shard, one node or one device that always fails must not affect the others. Devices hang by a hook that never
// ends the waits for them; they are SwiftShader's.

let faults: FaultCluster;

before(async () => {
  if (!skip) faults = await FaultCluster.start(['first'], timeoutMs(2_500));
});
after(() => faults?.stop());

const shardTest = (sentence: string, act: () => Promise<void>) => test(sentence, { skip }, act);

/** Submits the work and one more frame, which is the last of the job and alone in its shard. */
async function submitWith(name: string): Promise<StartedJob> {
  const extra = join(faults.work.folder, '..', name);
  copyFileSync(join(faults.work.folder, 'frame-0.pgm'), extra);
  return faults.submit([faults.work.folder, extra]);
}

/** Asserts that the job is complete except for that frame; returns the error of the frame. */
async function completesWithout(job: StartedJob, name: string) {
  const { state, error } = await faults.ended(job);
  assert.equal(state, 'JOB_STATE_COMPLETE', error);
  assert.deepEqual(readHistogram(job.out), faults.work.expected);
  const [line, ...others] = readErrors(job.out);
  assert.deepEqual(others, []);
  assert.equal(basename(line!.uri), name);
  const { counts } = readJson(job.out, 'job.json');
  assert.deepEqual([counts.shards, counts.quarantined], [faults.work.shards + 1, 1]);
  return line!;
}

shardTest(
  'sources that one node cannot reach, and then shards that all fail on it, are computed by the other',
  async () => {
    const { folder } = faults.work;
    const names = readdirSync(folder).filter((name) => name.startsWith('frame-'));
    const web = await startServer((request, response) => {
      const name = basename(request.url!);
      sendFile({ bytes: readFileSync(join(folder, name)), etag: `"${name}"` }, request, response);
    });
    const proxy = await TcpProxy.start(new URL(web.origin).host);
    try {
      const near = await faults.submit(names.map((name) => join(folder, name)));
      assert.equal((await faults.ended(near)).state, 'JOB_STATE_COMPLETE');
      proxy.refuse();
      const reroute = { [new URL(web.origin).port]: proxy.port };
      await faults.join('bad', { env: withFaults({ reroute, open: { 'frame-': 'EMFILE', 'image.tif': 'EMFILE' } }) });
      const far = await faults.submit(names.map((name) => `${web.origin}/${name}`));
      const { state, error, digest } = await faults.ended(far);
      assert.deepEqual([state, error], ['JOB_STATE_COMPLETE', '']);
      assert.ok(proxy.accepted > 0, 'the other node tried');
      const expected = readJson(near.out, 'job.json');
      const { counts } = readJson(far.out, 'job.json');
      assert.deepEqual([digest, counts.quarantined, counts.pixels], [expected.digest, 0, expected.counts.pixels]);
      assert.deepEqual(hashFiles(far.out, 'maps'), hashFiles(near.out, 'maps'));
      const job = await faults.submit();
      await faults.completesUndisturbed(job);
      assert.equal(readJson(job.out, 'job.json').nodes.length, 1);
    } finally {
      await proxy.close();
      await web.close();
    }
  },
);

const shardsOf = (name: string, { out }: StartedJob): number =>
  readJson(out, 'job.json').nodes.find((node: { name: string }) => node.name === name)?.shards ?? 0;

shardTest(
  'a device that hangs is opened again, and its node completes the job; if it keeps hanging, its node is set aside, and another computes all shards',
  async () => {
    await faults.restore('first');
    const { proxy } = faults.node('first');
    proxy.refuse();
    await eventually('the other node to be cut off', async () => !(await faults.cluster.node('first')));
    const { http, pid } = await faults.join('hanging', {
      env: withFaults({ hang: { devices: 1, afterBatches: 20 } }),
      device: 'software',
      // The device that is opened in its place has the same limit.
      options: ['--device-timeout', String(timeoutMs(2_500))],
    });
    const job = await faults.submit();
    await faults.completesUndisturbed(job);
    assert.equal(shardsOf('hanging', job), faults.work.shards);
    const lost = (await readMetrics(http)).get('halogrid_gpu_device_lost_total{device="software"}');
    assert.ok(lost! >= 1, `lost ${lost} times`);

    // Now each of its devices hangs.
    process.kill(pid, 'SIGUSR2');
    const next = await faults.submit();
    await eventually('the node to be set aside', async () => {
      const metrics = await readMetrics(faults.cluster.http);
      return metrics.get('halogrid_nodes_set_aside_total')! >= 1;
    });
    assert.equal((await faults.cluster.job(next.jobId)).counts!.shardsDone, 0);
    proxy.accept();
    // What the node has failed comes to the other at once; what it is still trying would come after the next timeout.
    await eventually('shards of the other node', async () => {
      return (await faults.cluster.job(next.jobId)).counts!.shardsDone > 0;
    });
    await faults.kill('hanging');
    await faults.completesUndisturbed(next);
    assert.equal(shardsOf('first', next), faults.work.shards);
  },
);

shardTest(
  'a shard that always fails is given up after three times on two nodes, and one that kills its nodes after three of them; no other shard is',
  async () => {
    await faults.restore();
    const env = withFaults({ open: { 'poison.pgm': 'EMFILE', 'killer.pgm': 'SIGKILL' } });
    await Promise.all(['k1', 'k2'].map((name) => faults.join(name, { env })));
    const poisoned = await submitWith('poison.pgm');
    const { stage, attempts, error } = await completesWithout(poisoned, 'poison.pgm');
    assert.deepEqual([stage, attempts], ['compute', 3]);
    assert.match(error, /^EMFILE: as the test says/);

    const job = await submitWith('killer.pgm');
    // Acts like a supervisor of nodes: starts an ended node again, with a new id.
    for (let died = 0, next = 3; died < 3; next++) {
      const dead = await eventually('a node to die', () => {
        const found = faults.cluster.nodes.filter(({ program }) => isDead(program));
        return found.length > 0 ? found : undefined;
      });
      for (const { name } of dead) await faults.kill(name);
      died += dead.length;
      await faults.launch(`k${next}`, { env });
    }
    const lost = await completesWithout(job, 'killer.pgm');
    assert.deepEqual([lost.stage, lost.attempts], ['compute', 3]);
    assert.match(lost.error, /^Its node was lost 3 times while it held the shard, the last was /);
  },
);

const isDead = (program: { pidsOf(role: string): number[] }) => program.pidsOf('node').length === 0;
