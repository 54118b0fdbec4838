import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { eventually, timeoutMs } from '@halogrid/testing';
import { seeded } from '../seeded.ts';
import { FaultCluster, skip, slowly } from './fault-cluster.ts';

// Whatever happens to the coordinator, what it has accepted is not computed again, and the bytes are the same.

/** Kills. Each takes six seconds: a start takes as long as the lease of the one before. */
const runs = Number(process.env.HALOGRID_FAULT_RUNS ?? 1);
const seed = Number(process.env.HALOGRID_FAULT_SEED ?? 1);

let faults: FaultCluster;

before(async () => {
  if (!skip) faults = await FaultCluster.start(['a', 'b'], timeoutMs(2_500));
});
beforeEach(() => faults?.restore('a', 'b'));
after(() => faults?.stop());

const leasesOf = async (): Promise<number> => {
  const nodes = await Promise.all(['a', 'b'].map((name) => faults.cluster.node(name)));
  return nodes.reduce((sum, node) => sum + (node?.leases ?? 0), 0);
};

test(`SIGKILL of the coordinator at ${runs} random moments of one job`, { skip }, async (t) => {
  const random = seeded(seed);
  // Leases come so slowly that the job outlives all of them.
  const down = { bytesPerSecond: Math.max(800, 6_000 / runs) };
  for (const name of ['a', 'b']) faults.node(name).proxy.set({ down });
  const job = await faults.submit();
  let [held, done] = [0, 0];
  for (let kills = 0; kills < runs; kills++) {
    const { counts } = await faults.cluster.job(job.jobId);
    assert.ok(counts!.shardsDone >= done, `${counts!.shardsDone} of ${done} shards are still done`);
    // Half of the shards are done before the last kill at most.
    done = await faults.shardsDone(job, done + Math.floor((random() * faults.work.shards) / 2 / runs));
    held += await leasesOf();
    faults.cluster.coordinator.kill();
    await faults.cluster.startCoordinatorAgain();
  }
  for (const name of ['a', 'b']) faults.node(name).proxy.set({});
  const { attempts } = await faults.resumesUndisturbed(job);
  const again = attempts - faults.work.shards;
  t.diagnostic(`seed ${seed}: ${runs} kills, ${held} leases held then, ${again} attempts more than shards`);
  // Those that were answered between our look and the kill had others in their place.
  assert.ok(again <= held + 16 * runs, `${again} attempts more than shards, ${held} leases were held`);
});

test('SIGSTOP of the coordinator for longer than nodes wait for its word', { skip }, async () => {
  for (const name of ['a', 'b']) faults.node(name).proxy.set(slowly);
  const job = await faults.submit();
  await faults.shardsDone(job, 20);
  const [pid] = faults.cluster.coordinator.pidsOf('coordinator');
  const proxies = ['a', 'b'].map((name) => faults.node(name).proxy);
  const dialled = proxies.map(({ accepted }) => accepted);
  process.kill(pid!, 'SIGSTOP');
  try {
    await eventually('the nodes to dial again', () => proxies.every((proxy, i) => proxy.accepted > dialled[i]!));
  } finally {
    process.kill(pid!, 'SIGCONT');
  }
  await faults.completesUndisturbed(job);
});
