import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkMoment, checkOutcome } from './check-outcome.ts';
import type { MetricSums } from './metric-sums.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';
import { createCluster, frames, nature } from './testing.ts';

// After every fault the result is that of the undisturbed job, bit for bit, and every shard is accepted once.

interface Fault {
  name: string;
  /** Two sound nodes and a job of 100 shards of 100 ms are there; what is done to them. */
  arrange: (cluster: SimulatedCluster) => void;
  /** Beyond what always holds: metrics, and when the job was done. */
  check?: (counted: MetricSums, cluster: SimulatedCluster) => void | Promise<void>;
}

const [first, second] = [0, 1];
const workMs = 5000;

const faults: Fault[] = [
  {
    name: 'nothing goes wrong',
    arrange: () => {},
    check: ({ leases }, { clock }) => {
      assert.equal(leases, 100);
      assert.ok(clock.monotonicMs() < 1.1 * workMs, `${clock.monotonicMs()} ms`);
    },
  },
  {
    name: 'a node is killed while it computes, and is noticed by its connection',
    arrange: ({ clock, nodes }) => clock.after(1000, () => nodes[first]!.crash(true, false)),
    check: ({ leases }) => assert.ok(leases > 100),
  },
  {
    name: 'a node is cut off by a network that swallows everything, and is noticed by its silence',
    arrange: ({ clock, nodes }) => clock.after(1000, () => nodes[first]!.crash(false, false)),
  },
  {
    name: 'a node stands still for longer than its deadline, and answers what others have computed by then',
    arrange: ({ clock, nodes }) => clock.after(1000, () => nodes[first]!.freeze(6000)),
  },
  {
    name: 'a node stands still for less than its deadline',
    arrange: ({ clock, nodes }) => clock.after(1000, () => nodes[first]!.freeze(2000)),
    check: ({ leases, copies }) => assert.equal(leases, 100 + copies),
  },
  {
    name: 'every report arrives twice, and reports overtake one another',
    arrange: (cluster) => cluster.add(nature('stammering', { duplicates: 1, latencyMs: 300 })),
  },
  {
    name: 'connections break again and again, with reports on their way',
    arrange: ({ clock, nodes }) => {
      for (const node of nodes) for (let i = 1; i <= 3; i++) clock.after(900 * i, () => node.cut());
    },
  },
  {
    name: 'every node is lost, and one comes later',
    arrange: (cluster) => {
      for (const node of cluster.nodes) cluster.clock.after(1000, () => node.crash(true, false));
      cluster.add(nature('late'), 600_000);
    },
    check: (_counted, { clock }) => assert.ok(clock.monotonicMs() > 600_000),
  },
  {
    name: 'a node joins late and takes its share',
    arrange: (cluster) => cluster.add(nature('late'), 2000),
    check: (_counted, { nodes, clock }) => {
      assert.ok(nodes.at(-1)!.computedBytes >= 1500, `${nodes.at(-1)!.computedBytes} bytes`);
      assert.ok(clock.monotonicMs() < 0.9 * workMs);
    },
  },
  {
    name: 'a hundred nodes come and go',
    arrange: (cluster) => {
      for (let i = 0; i < 100; i++) {
        const node = cluster.add(nature(`flap-${i}`), 10 * i);
        if (i % 2 === 0) cluster.clock.after(1000 + 7 * i, () => node.cut());
      }
    },
  },
  {
    name: 'a shard that no device computes is quarantined, and the others are done',
    arrange: (cluster) => cluster.jobs.set('job', frames({ poison: new Set([17]) })),
    check: ({ leases, setAside }) => assert.deepEqual([leases, setAside], [102, 0]),
  },
  {
    name: 'a shard that ends its process is quarantined after three, and those beside it are done',
    arrange: (cluster) => cluster.jobs.set('job', frames({ killers: new Set([17]) })),
  },
  {
    name: 'a node that fails everything at once is set aside, and no shard is blamed for it',
    arrange: (cluster) => cluster.add(nature('bad', { failures: 1 })),
    check: ({ setAside }, { clock }) => {
      assert.ok(setAside >= 1);
      assert.ok(clock.monotonicMs() < 1.2 * workMs, `${clock.monotonicMs()} ms`);
    },
  },
  {
    name: 'a shard takes fifty times as long on one node, and is computed by another meanwhile',
    arrange: (cluster) => {
      cluster.nodes.length = 0;
      const stragglers = new Map(Array.from({ length: 100 }, (_, shard) => [shard, shard >= 90 ? 50 : 1]));
      cluster.add(nature('slow at times', { stragglers }));
    },
    check: ({ copies, leases }, { clock }) => {
      assert.ok(copies >= 1 && copies <= 10, `${copies} copies`);
      assert.equal(leases, 100 + copies);
      assert.ok(clock.monotonicMs() < 3 * workMs, `${clock.monotonicMs()} ms`);
    },
  },
  {
    name: 'a node is asked to stop and finishes what it holds',
    arrange: ({ clock, nodes }) => clock.after(1000, () => nodes[first]!.drain(60_000)),
    check: ({ leases }) => assert.equal(leases, 100),
  },
  {
    name: 'a node is asked to stop and hands back what it has no time for, which is no attempt',
    arrange: ({ clock, nodes }) => clock.after(1000, () => nodes[second]!.drain(250)),
    check: async ({ leases }, { ledger }) => {
      assert.ok(leases > 100, `${leases} leases`);
      assert.equal((await ledger.getJob('job'))!.counts.attempts, 100);
    },
  },
  {
    name: 'the ledger takes longer for a commit than nodes for a shard',
    arrange: () => {},
  },
  {
    name: 'a device is always wrong, and all that counts is checked',
    arrange: (cluster) => {
      cluster.jobs.set('job', frames({ verify: 100 }));
      cluster.add(nature('liar', { lies: 1 }));
    },
    check: ({ mismatches, wrongAnswers }, { nodes }) => {
      assert.ok(mismatches >= 1 && wrongAnswers >= 1);
      assert.ok(nodes.at(-1)!.isGone, 'it is sent away');
    },
  },
  {
    name: 'a device is wrong at times, and all that counts is checked',
    arrange: (cluster) => {
      cluster.jobs.set('job', frames({ verify: 100 }));
      cluster.add(nature('liar', { lies: 0.2 }));
    },
    check: (_counted, { nodes }) => assert.ok(nodes.at(-1)!.isGone, 'it is sent away'),
  },
];

for (const { name, arrange, check } of faults) {
  test(name, async () => {
    const cluster = await createCluster(7, name.startsWith('the ledger') ? 300 : 0);
    try {
      cluster.jobs.set('job', frames());
      cluster.add(nature('one'));
      cluster.add(nature('two'));
      arrange(cluster);
      cluster.submit(cluster.jobs.get('job')!);
      await cluster.untilEnded(() => checkMoment(cluster));
      const counted = await cluster.counted();
      await checkOutcome(cluster);
      await check?.(counted, cluster);
    } finally {
      await cluster.close();
    }
  });
}
