import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkOutcome } from './check-outcome.ts';
import { createCluster, frames, nature } from './create-cluster.ts';

// A fast node of rate R and a slow one of rate 1 share T of work as T·R / (1 + R) and T / (1 + R), and end together.
for (const [rate, shards] of [
  [1, 400],
  [30, 1000],
] as const) {
  test(`a node ${rate} times as fast does ${rate} times as much, and both end within 5 % of the ideal`, async () => {
    const cluster = await createCluster();
    cluster.submit(frames({ shards }));
    const fast = cluster.add(nature('fast', { bytesPerMs: rate, creditBytes: 100_000 }));
    const slow = cluster.add(nature('slow', { bytesPerMs: 1, creditBytes: 100_000 }));
    await cluster.untilEnded();
    await checkOutcome(cluster);
    const idealMs = (shards * 100) / (1 + rate);
    const tookMs = cluster.clock.monotonicMs();
    assert.ok(tookMs < 1.05 * idealMs, `${tookMs} ms where ${idealMs} are ideal`);
    const share = slow.computedBytes / (fast.computedBytes + slow.computedBytes);
    const ideal = 1 / (1 + rate);
    assert.ok(Math.abs(share - ideal) < 0.1 * ideal, `the slow node did ${share} where ${ideal} are ideal`);
    await cluster.close();
  });
}

test('jobs of the same priority make equal progress, whatever their shards cost, and a job of a higher one goes first', async () => {
  const cluster = await createCluster();
  const done = (jobId: string): number => (cluster.commits.get(jobId) ?? []).filter(Boolean).length;
  const jobs = [
    frames({ jobId: 'small', costBytes: 100, shards: 400 }),
    frames({ jobId: 'large', costBytes: 400, shards: 100 }),
    frames({ jobId: 'urgent', costBytes: 100, shards: 100, priority: 5 }),
  ];
  for (const job of jobs) cluster.submit(job);
  cluster.add(nature('one', { creditBytes: 4000 }), 1);
  cluster.add(nature('two', { creditBytes: 4000 }), 1);
  await cluster.until(() => done('urgent') === 100);
  assert.ok(done('small') + done('large') <= 15, `${done('small')} and ${done('large')} were done before`);
  await cluster.until(() => done('small') >= 200);
  assert.ok(Math.abs(done('small') / 4 - done('large')) < 15, `${done('small')} of 400, ${done('large')} of 100`);
  await cluster.untilEnded();
  await checkOutcome(cluster);
  await cluster.close();
});
