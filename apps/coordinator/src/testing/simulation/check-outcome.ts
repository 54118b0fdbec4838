import assert from 'node:assert/strict';
import type { SimulatedCluster } from './simulated-cluster.ts';
import { expectedOf, hopelessShards } from './simulated-job.ts';

/**
 * Checks what must hold while jobs run: the leases that a node computes stay within its credit, unless it is a single
 * lease; nothing is negative.
 */
export function checkMoment({ dispatcher }: SimulatedCluster): void {
  for (const { hello, computing, leasedBytes } of dispatcher.view.nodes()) {
    assert.ok(leasedBytes <= hello.creditBytes || computing === 1, `${hello.name} holds ${leasedBytes} bytes`);
  }
  const { queued, leased, done } = dispatcher.view.shards();
  assert.ok(queued >= 0 && leased >= 0 && done >= 0, `${queued} queued, ${leased} leased, ${done} done`);
}

/**
 * Checks what must hold when all jobs have ended, whatever happened meanwhile. The results equal, bit for bit, results
 * that were computed without the coordinator. Every shard was accepted once, and once more for each loss of its part,
 * or is quarantined. Counts and metrics agree. A shard that a coordinator accepted, but could not report before it
 * died, is not counted and never accepted again.
 */
export async function checkOutcome(cluster: SimulatedCluster): Promise<void> {
  let committed = 0;
  let quarantined = 0;
  const isWhole = cluster.followed === 0;
  for (const job of cluster.jobs.values()) {
    const { jobId, shards } = job;
    const record = (await cluster.ledger.getJob(jobId))!;
    assert.equal(record.state, 'complete', `${jobId}: ${record.error}`);
    const results = cluster.results.get(jobId)!;
    const expected = expectedOf(job);
    const given = results.job.reasons?.map(({ error }) => error).join('; ');
    assert.equal(record.counts.quarantined, expected.quarantined, `${jobId}: quarantined because ${given}`);
    const parts = (results.parts ?? [{ results }]).map(({ results: { counted, bins } }) => {
      return { counted, bins: [...bins] };
    });
    assert.deepEqual({ digest: record.digest, quarantined: record.counts.quarantined, parts }, expected, jobId);

    const lost = hopelessShards(job);
    const accepted = cluster.commits.get(jobId) ?? [];
    for (let shard = 0; shard < shards; shard++) {
      const times = accepted[shard] ?? 0;
      const atMost = lost.has(shard) ? 0 : 1 + (cluster.lost.get(jobId)?.[shard] ?? 0);
      assert.ok(
        times === atMost || (times < atMost && !isWhole),
        `${times} results accepted of ${jobId}/${shard}, at most ${atMost}`,
      );
      if (!job.kept.has(shard)) committed += times;
    }
    const ofNodes = shards - job.kept.size;
    assert.deepEqual([record.counts.shardsDone, record.counts.shards], [ofNodes, ofNodes], jobId);
    assert.ok(record.counts.attempts >= ofNodes);
    assert.equal(record.counts.kept ?? 0, job.kept.size * job.group, jobId);
    const byNodes = results.nodes.reduce((sum, node) => sum + node.shards, 0);
    assert.ok(byNodes <= ofNodes, `${byNodes} shards by nodes of ${jobId}`);
    quarantined += lost.size;
  }
  assert.deepEqual(cluster.dispatcher.view.shards(), { queued: 0, paused: 0, leased: 0, done: 0 });
  const metrics = await cluster.counted();
  assert.equal(metrics.committed, committed, 'metrics agree with the ledger');
  assert.ok(metrics.quarantined === quarantined || (metrics.quarantined > quarantined && !isWhole));
}
