import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { eventually, timeoutMs } from '@halogrid/testing';
import { seeded } from '../seeded.ts';
import { repetitions } from '../thorough.ts';
import { FaultCluster, skip, slowly } from './fault-cluster.ts';

// Whatever the network between nodes and coordinator does, a job gives the same bytes.

/** Silence that makes a node count as lost. */
const nodeTimeoutMs = timeoutMs(5_000);

/** Random faults of each kind; a failure names its seed. */
const runs = repetitions('HALOGRID_FAULT_RUNS', 1, 2);
const firstSeed = Number(process.env.HALOGRID_FAULT_SEED ?? 1);

let faults: FaultCluster;

before(async () => {
  if (!skip) faults = await FaultCluster.start(['a', 'b'], nodeTimeoutMs);
});
beforeEach(() => faults?.restore('a', 'b'));
after(() => faults?.stop());

const networkTest = (sentence: string, act: () => Promise<void>) => test(sentence, { skip }, act);

networkTest('a connection that is half open is given up by both ends, and the node dials again', async () => {
  const { proxy } = faults.node('a');
  proxy.set(slowly);
  const job = await faults.submit();
  await faults.shardsDone(job, 20);
  const dialled = proxy.accepted;
  const attachedMs = async () => (await faults.cluster.node('a'))?.attachedMs;
  const before = await attachedMs();
  proxy.forsake();
  await eventually('the node to dial again', () => proxy.accepted > dialled);
  // The node may be back before this code could see that it was gone.
  await eventually('the coordinator to give the old conversation up', async () => (await attachedMs()) !== before);
  await faults.completesUndisturbed(job);
});

networkTest('a network with packets of one byte costs only time', async () => {
  const inBytes = { sliceBytes: 1 };
  for (const name of ['a', 'b']) faults.node(name).proxy.set({ up: inBytes, down: inBytes });
  const job = await faults.submit();
  await faults.shardsDone(job, 10);
  // The network is repaired, because the rest would only repeat the same for ten seconds.
  for (const name of ['a', 'b']) faults.node(name).proxy.set({});
  const { attempts } = await faults.completesUndisturbed(job);
  assert.equal(attempts, faults.work.shards);
});

networkTest('a network with 200 ms latency and 1 MB/s costs only time', async () => {
  const slow = { latencyMs: 100, jitterMs: 10, bytesPerSecond: 1_000_000, sliceBytes: 1400 };
  for (const name of ['a', 'b']) faults.node(name).proxy.set({ up: slow, down: slow });
  const { attempts } = await faults.completesUndisturbed(await faults.submit());
  assert.equal(attempts, faults.work.shards);
});

networkTest(`connections that are reset within messages of either direction, at ${runs} random bytes`, async () => {
  const ways = { a: 'up', b: 'down' } as const;
  const names = ['a', 'b'] as const;
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
    const proxies = names.map((name) => faults.node(name).proxy);
    const dialled = proxies.map(({ accepted }) => accepted);
    await eventually(`resets after ${limits} bytes`, () =>
      proxies.every((proxy, i) => proxy.accepted > dialled[i]! + 1),
    );
    for (const proxy of proxies) proxy.set({});
    await faults.completesUndisturbed(job).catch((error) => {
      throw new Error(`With HALOGRID_FAULT_SEED=${seed}, limits of ${limits} bytes`, { cause: error });
    });
  }
});

networkTest('a shard is not computed again if the reply after its commit is lost', async () => {
  const { proxy } = faults.node('a');
  // Answers are slowed down, so that some are on their way when the node stops receiving.
  const up = { bytesPerSecond: 40_000 };
  proxy.set({ up });
  const job = await faults.submit();
  const accepted = async () => (await faults.cluster.node('a'))!.shardsDone;
  const before = await accepted();
  await eventually('an answer of the node', async () => (await accepted()) > before);
  proxy.set({ up, down: { isLost: true } });
  const heard = await accepted();
  await eventually('answers whose replies are lost', async () => (await accepted()) > heard + 2);
  proxy.cut('reset');
  proxy.set({});
  const { attempts, expired } = await faults.completesUndisturbed(job);
  // The node keeps its shards that were not leased to others meanwhile: their leases did not expire.
  assert.equal(attempts, faults.work.shards + expired);
});

networkTest('nodes that are cut off from their coordinator come back when the network heals', async () => {
  for (const name of ['a', 'b']) faults.node(name).proxy.set(slowly);
  const job = await faults.submit();
  await faults.shardsDone(job, 10);
  const proxies = ['a', 'b'].map((name) => faults.node(name).proxy);
  const dialled = proxies.map(({ accepted }) => accepted);
  for (const proxy of proxies) proxy.refuse();
  // Each dial that is cut off is followed by two connections that look for the reason.
  await eventually('three dials each', () => proxies.every((proxy, i) => proxy.accepted >= dialled[i]! + 7));
  for (const proxy of proxies) {
    proxy.set({});
    proxy.accept();
  }
  await faults.completesUndisturbed(job);
});
