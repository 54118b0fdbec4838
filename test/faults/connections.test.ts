import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { eventually, pause, timeoutMs } from '@halogrid/testing';
import { readMetrics } from '../read-metrics.ts';
import { seeded } from '../seeded.ts';
import { repetitions } from '../thorough.ts';
import { FaultCluster, silenced, skip, slowly, unleased } from './fault-cluster.ts';
import { withFaults } from './node-hooks.ts';

// Whatever the network between nodes and coordinator does, and whatever their clocks say, a job gives the same bytes.

/** Silence that makes a node count as lost. */
const nodeTimeoutMs = timeoutMs(5_000);

/** Random faults of each kind; a failure names its seed. */
const runs = repetitions('HALOGRID_FAULT_RUNS', 1, 2);
const firstSeed = Number(process.env.HALOGRID_FAULT_SEED ?? 1);

/**
 * The clocks of the coordinator and of node b jump by an hour, each second, in all cases. A jump is far longer than a
 * node may be silent, so nodes would count as lost if wall clocks were used.
 */
const jumpMs = 3_600_000;
const jumping = withFaults({ clockJumpsMs: jumpMs });

let faults: FaultCluster;
const names = ['a', 'b'] as const;
const proxies = () => names.map((name) => faults.node(name).proxy);

before(async () => {
  if (skip) return;
  faults = await FaultCluster.start(['a'], nodeTimeoutMs, jumping);
  await faults.join('b', { env: jumping });
});
beforeEach(() => faults?.restore(...names));
after(() => faults?.stop());

const networkTest = (sentence: string, act: () => Promise<void>) => test(sentence, { skip }, act);

networkTest('a connection that is half open is given up by both ends, and the node dials again', async () => {
  const { proxy } = faults.node('a');
  proxy.set(slowly);
  const job = await faults.submit();
  await faults.shardsDone(job, 10);
  const dialled = proxy.accepted;
  const attachedMs = async () => (await faults.cluster.node('a'))?.attachedMs;
  const before = await attachedMs();
  proxy.forsake();
  await eventually('the node to dial again', () => proxy.accepted > dialled);
  // The node may be back before this code could see that it was gone.
  await eventually('the coordinator to give the old conversation up', async () => (await attachedMs()) !== before);
  await faults.completesUndisturbed(job);
});

networkTest(
  'a network with packets of one byte, that then stands still, and then has 200 ms latency and 1 MB/s, costs only time; the clocks jump by an hour meanwhile',
  async () => {
    const inBytes = { sliceBytes: 1 };
    for (const proxy of proxies()) proxy.set({ up: inBytes, down: inBytes });
    const job = await faults.submit();
    // More would only cost this process more turns, on a busy machine longer than gRPC waits for an answer to a ping.
    await faults.shardsDone(job, 2);
    // Two jumps while shards are leased. The job cannot end meanwhile, because no message reaches its nodes.
    for (const proxy of proxies()) proxy.set(unleased);
    await pause(2_100);
    const slow = { latencyMs: 100, jitterMs: 10, bytesPerSecond: 1_000_000, sliceBytes: 1400 };
    for (const proxy of proxies()) proxy.set({ up: slow, down: slow });
    const { attempts, expired } = await faults.completesUndisturbed(job);
    assert.deepEqual([attempts, expired], [faults.work.shards, 0]);
    const { submittedMs } = await faults.cluster.job(job.jobId);
    const writtenMs = statSync(join(faults.work.folder, 'image.tif')).mtimeMs;
    assert.ok(Math.abs(Number(submittedMs) - writtenMs) > jumpMs / 2, 'the clock of the coordinator jumps');
  },
);

networkTest(`connections that are reset within messages of either direction, at ${runs} random bytes`, async () => {
  const ways = { a: 'up', b: 'down' } as const;
  for (let seed = firstSeed; seed < firstSeed + runs; seed++) {
    const random = seeded(seed);
    const limits = names.map((name) => {
      const limitBytes = 300 + Math.floor(random() * 9_000);
      // The limit is for later connections, because the open ones have carried more already.
      const { proxy } = faults.node(name);
      proxy.cut('reset');
      proxy.set({ [ways[name]]: { limitBytes } });
      return limitBytes;
    });
    const job = await faults.submit();
    const dialled = proxies().map(({ accepted }) => accepted);
    await eventually(`resets after ${limits} bytes`, () =>
      proxies().every((proxy, i) => proxy.accepted > dialled[i]! + 1),
    );
    for (const proxy of proxies()) proxy.set({});
    await faults.completesUndisturbed(job).catch((error) => {
      throw new Error(`With HALOGRID_FAULT_SEED=${seed}, limits of ${limits} bytes`, { cause: error });
    });
  }
});

networkTest('a shard is not computed again if the reply after its commit is lost', async () => {
  const { proxy, http } = faults.node('a');
  // The other node gets no lease before, or the job could be over.
  faults.node('b').proxy.set(unleased);
  proxy.set(slowly);
  const job = await faults.submit();
  const ofNode = async () => (await faults.cluster.node('a'))!;
  await eventually('leases of the node', async () => (await ofNode()).leases > 0);
  proxy.set(silenced);
  await eventually('answers that are all on their way', async () => {
    return (await ofNode()).leases > 0 && (await readMetrics(http)).get('halogrid_node_leases') === 0;
  });
  const { shardsDone } = await ofNode();
  proxy.set({ down: { isLost: true } });
  await eventually('answers whose replies are lost', async () => (await ofNode()).shardsDone > shardsDone);
  proxy.cut('reset');
  for (const proxy of proxies()) proxy.set({});
  const { attempts, expired } = await faults.completesUndisturbed(job);
  // The node keeps its shards that were not leased to others meanwhile: their leases did not expire.
  assert.equal(attempts, faults.work.shards + expired);
});

networkTest('nodes that are cut off from their coordinator come back when the network heals', async () => {
  for (const proxy of proxies()) proxy.set(slowly);
  const job = await faults.submit();
  await faults.shardsDone(job, 10);
  const dialled = proxies().map(({ accepted }) => accepted);
  for (const proxy of proxies()) proxy.refuse();
  // Each dial that is cut off is followed by two connections that look for the reason.
  await eventually('three dials each', () => proxies().every((proxy, i) => proxy.accepted >= dialled[i]! + 7));
  for (const proxy of proxies()) {
    proxy.set({});
    proxy.accept();
  }
  await faults.completesUndisturbed(job);
});
