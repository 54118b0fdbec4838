import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { eventually, timeoutMs } from '@halogrid/testing';
import { readMetrics } from '../read-metrics.ts';
import { readJson } from '../results.ts';
import { FaultCluster, type StartedJob, skip } from './fault-cluster.ts';
import { withFaults } from './node-hooks.ts';

// Devices that accept batches and never answer: SwiftShader, with waits that never end.

let faults: FaultCluster;

before(async () => {
  // The time for which a node may be silent: a failed shard is tried again after it.
  if (!skip) faults = await FaultCluster.start(['good'], timeoutMs(5_000));
});
beforeEach(async () => {
  if (skip) return;
  await faults.restore('good');
  faults.node('good').proxy.refuse();
  await eventually('the good node to be cut off', async () => !(await faults.cluster.node('good')));
});
after(() => faults?.stop());

const deviceTest = (sentence: string, act: () => Promise<void>) => test(sentence, { skip }, act);

const shardsOf = (name: string, { out }: StartedJob): number =>
  readJson(out, 'job.json').nodes.find((node: { name: string }) => node.name === name)?.shards ?? 0;

deviceTest('a device that hangs in the middle of a job is opened again, and its node completes the job', async () => {
  const { http } = await faults.join('hanging', {
    env: withFaults({ hang: { devices: 1, afterBatches: 20 } }),
    device: 'software',
    // The device that is opened in its place has the same limit.
    options: ['--device-timeout', String(timeoutMs(5_000))],
  });
  const job = await faults.submit();
  await faults.completesUndisturbed(job);
  assert.equal(shardsOf('hanging', job), faults.work.shards);
  const lost = (await readMetrics(http)).get('halogrid_gpu_device_lost_total{device="software"}');
  assert.ok(lost! >= 1, `lost ${lost} times`);
});

deviceTest('a device that keeps hanging: its node is set aside, and another node computes all shards', async () => {
  await faults.join('hanging', {
    env: withFaults({ hang: { devices: 100, afterBatches: 0 } }),
    device: 'software',
    options: ['--device-timeout', String(timeoutMs(1_000))],
  });
  const job = await faults.submit();
  await eventually('the node to be set aside', async () => {
    const metrics = await readMetrics(faults.cluster.http);
    return metrics.get('halogrid_nodes_set_aside_total')! >= 1;
  });
  assert.equal((await faults.cluster.job(job.jobId)).counts!.shardsDone, 0);
  faults.node('good').proxy.accept();
  await faults.completesUndisturbed(job);
  assert.equal(shardsOf('good', job), faults.work.shards);
  // The node may have given up its device by now, and ended.
  await faults.kill('hanging');
});
