import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { checkMoment, checkOutcome } from './check-outcome.ts';
import { blindTo, createCluster, frames, nature } from './create-cluster.ts';
import type { MetricSums } from './metric-sums.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';
import { acceptedJob } from './simulated-job.ts';

// After every fault the result equals that of the undisturbed job, bit for bit, and every shard is accepted once.

interface Fault {
  name: string;
  /** Whether the two nodes are left out. */
  isEmpty?: boolean;
  /** Time that the ledger takes for a transaction; by default 0. */
  commitMs?: number;
  /** Disturbs a cluster of two sound nodes with a job of 100 shards of 100 ms. */
  arrange: (cluster: SimulatedCluster) => void;
  /** Checks metrics and times, besides what always holds. */
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
    name: 'a shard that ends its process is quarantined after three deaths, and other shards are done',
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
    name: 'a node is asked to stop and hands back shards that it has no time for, which do not count as attempts',
    arrange: ({ clock, nodes }) => clock.after(1000, () => nodes[second]!.drain(250)),
    check: async ({ leases }, { ledger }) => {
      assert.ok(leases > 100, `${leases} leases`);
      assert.equal((await ledger.getJob('job'))!.counts.attempts, 100);
    },
  },
  {
    name: 'the ledger takes longer for a commit than nodes for a shard',
    commitMs: 300,
    arrange: () => {},
  },
  {
    name: 'a connection breaks for a moment, and the node goes on with its shards',
    arrange: ({ clock, nodes }) => clock.after(1050, () => nodes[first]!.cut()),
    check: (_counted, { nodes, clock }) => {
      const computed = nodes[first]!.computedBytes + nodes[second]!.computedBytes;
      assert.ok(computed <= 10_300, `${computed} bytes computed of 10,000`);
      assert.ok(clock.monotonicMs() < 1.1 * workMs, `${clock.monotonicMs()} ms`);
    },
  },
  {
    name: 'nodes are parted from the coordinator for ten seconds, go on meanwhile, and bring their shards along',
    arrange: ({ clock, nodes }) => {
      for (const node of nodes) clock.after(1050, () => node.cut(false, 10_000));
    },
    check: (_counted, { nodes }) => {
      const computed = nodes[first]!.computedBytes + nodes[second]!.computedBytes;
      assert.ok(computed <= 10_300, `${computed} bytes computed of 10,000`);
    },
  },
  {
    name: 'nodes are parted from the coordinator for longer than they keep shards',
    arrange: ({ clock, nodes }) => {
      for (const node of nodes) clock.after(1050, () => node.cut(false, 100_000));
    },
  },
  {
    name: 'a node that fails everything is alone at first: no shard is blamed, and another does the work',
    isEmpty: true,
    arrange: (cluster) => {
      cluster.add(nature('bad', { failures: 1 }));
      cluster.add(nature('late'), 60_000);
    },
    check: ({ setAside }) => assert.ok(setAside >= 1),
  },
  {
    name: 'a node cannot read sources for a while: it gets no shards of them meanwhile, and no shard is blamed',
    arrange: ({ clock, nodes }) => clock.after(1000, () => nodes[first]!.storage.lose(60_000)),
    check: ({ lacksFound, leases }) => {
      assert.ok(lacksFound >= 1);
      assert.ok(leases <= 120, `${leases} leases`);
    },
  },
  {
    name: 'a node never sees the sources: it gets no shards of them',
    arrange: (cluster) => cluster.add(nature('blind', { blind: [blindTo('file:///in/')] })),
    check: ({ leases, lacksFound }, { nodes }) => {
      assert.deepEqual([leases, lacksFound, nodes.at(-1)!.computedBytes], [100, 1, 0]);
    },
  },
  {
    name: 'a node has other files in place of the sources: it gets no shards of them',
    arrange: (cluster) => cluster.add(nature('other', { blind: [blindTo('file:///in/', { finds: 'others' })] })),
    check: ({ leases, lacksFound }) => assert.deepEqual([leases, lacksFound], [100, 1]),
  },
  {
    name: 'a node shows the sources and fails to read them: it gets little, and no shard is blamed',
    arrange: (cluster) => cluster.add(nature('torn', { blind: [blindTo('file:///in/', { finds: 'damage' })] })),
    check: ({ leases }) => assert.ok(leases <= 120, `${leases} leases`),
  },
  {
    name: 'a node has too little memory for some shards, dies of them and is restarted: another node computes them',
    arrange: (cluster) => cluster.add(nature('weak', { dies: new Set(Array.from({ length: 100 }, (_, i) => i)) })),
    check: (_counted, { nodes }) => assert.equal(nodes.at(-1)!.computedBytes, 0),
  },
  {
    name: 'a node cannot write results: it gets no shard that writes some, and no job fails',
    arrange: (cluster) => cluster.add(nature('full', { blind: [blindTo('file:///out/')] })),
    check: ({ lacksFound }) => assert.equal(lacksFound, 1),
  },
  ...[0, 300, 3000, workMs].map(
    (fromMs): Fault => ({
      name: `the disk of the output is full from ${fromMs} ms on for a minute: the job waits, and nothing is computed in vain for long`,
      arrange: ({ world }) => world.full.push({ below: 'file:///out/', fromMs, untilMs: fromMs + 60_000 }),
      check: ({ leases }, { clock }) => {
        assert.ok(leases <= 130, `${leases} leases`);
        assert.ok(clock.monotonicMs() > fromMs + 60_000 && clock.monotonicMs() < fromMs + 90_000);
      },
    }),
  ),
  {
    name: 'the disk of the output is full for twenty minutes, for which no blind node and no coordinator that dies is blamed',
    arrange: (cluster) => {
      cluster.add(nature('blind', { blind: [blindTo('file:///out/')] }));
      cluster.world.full.push({ below: 'file:///out/', fromMs: 1000, untilMs: 1_200_000 });
      for (const atMs of [1500, 60_000]) cluster.clock.after(atMs, () => cluster.restart(500));
    },
    check: (_counted, { clock }) => assert.ok(clock.monotonicMs() > 1_200_000),
  },
  {
    name: 'a node that sees nothing is alone for a minute, and another does the work',
    isEmpty: true,
    arrange: (cluster) => {
      cluster.add(nature('blind', { blind: [blindTo('file:///in/')] }));
      cluster.add(nature('late'), 60_000);
    },
    check: ({ leases }) => assert.equal(leases, 100),
  },
  ...[5, 20, 90].map(
    (seconds): Fault => ({
      name: `the host of all sources is away for ${seconds} s: no input is blamed, and it is not asked all the time`,
      arrange: (cluster) => {
        cluster.jobs.set('job', frames({ onHosts: true }));
        cluster.world.outages.push({ place: 'http://job-0', fromMs: 1000, untilMs: 1000 + 1000 * seconds });
      },
      check: ({ leases }, { clock }) => {
        assert.ok(leases <= 140, `${leases} leases`);
        assert.ok(clock.monotonicMs() > workMs + 900 * seconds, `${clock.monotonicMs()} ms`);
      },
    }),
  ),
  {
    name: 'one of two hosts is away from the start: the sources of the other are computed meanwhile',
    arrange: (cluster) => {
      cluster.jobs.set('job', frames({ onHosts: true, roots: 2 }));
      cluster.world.outages.push({ place: 'http://job-1', fromMs: 0, untilMs: 300_000 });
    },
    check: (_counted, { commits, world }) => {
      assert.equal(commits.get('job')!.length, 100);
      assert.ok(world.clock.monotonicMs() > 300_000);
    },
  },
  {
    name: 'a host goes away and comes back again and again',
    arrange: (cluster) => {
      cluster.jobs.set('job', frames({ onHosts: true }));
      for (let i = 0; i < 40; i++) {
        cluster.world.outages.push({ place: 'http://job-0', fromMs: 300 * i, untilMs: 300 * i + 150 });
      }
    },
  },
  {
    name: 'the coordinator is killed while a host is away',
    arrange: (cluster) => {
      cluster.jobs.set('job', frames({ onHosts: true }));
      cluster.world.outages.push({ place: 'http://job-0', fromMs: 1000, untilMs: 60_000 });
      cluster.clock.after(10_000, () => cluster.restart(2000));
    },
  },
  {
    name: 'a host is away for only one node: it gets no shards of its sources, and the other node does them',
    arrange: (cluster) => {
      cluster.jobs.set('job', frames({ onHosts: true }));
      cluster.add(nature('apart', { blind: [blindTo('http://job-0/')] }));
    },
    check: ({ leases, lacksFound }, { nodes }) => {
      assert.deepEqual([leases, lacksFound, nodes.at(-1)!.computedBytes], [100, 1, 0]);
    },
  },
  {
    name: 'a job that waits for a node does so for twenty minutes',
    isEmpty: true,
    arrange: (cluster) => {
      cluster.jobs.set('job', frames({ waitsForNode: true }));
      cluster.add(nature('blind', { blind: [blindTo('file:///in/')] }));
      cluster.add(nature('late'), 1_200_000);
    },
    check: ({ leases }) => assert.equal(leases, 100),
  },
  {
    name: 'the coordinator is killed, and the next one adopts the shards that nodes hold',
    arrange: (cluster) => cluster.clock.after(1050, () => cluster.restart(2000)),
    check: ({ leases }, { nodes }) => {
      assert.ok(leases <= 101, `${leases} leases`);
      const computed = nodes[first]!.computedBytes + nodes[second]!.computedBytes;
      assert.ok(computed <= 10_100, `${computed} bytes computed of 10,000`);
    },
  },
  {
    name: 'the coordinator is killed fifty times, at any moment of a transaction',
    commitMs: 40,
    arrange: (cluster) => {
      for (let i = 1; i <= 50; i++) cluster.clock.after(i * 91.3, () => cluster.restart(25));
    },
    check: (_counted, { followed }) => assert.equal(followed, 50),
  },
  {
    name: 'the coordinator and every node are killed at once',
    commitMs: 40,
    arrange: (cluster) => {
      cluster.clock.after(1050, () => cluster.restart(2000));
      for (const node of cluster.nodes) cluster.clock.after(1050, () => node.crash());
    },
  },
  {
    name: 'the coordinator is killed, and a node stays away for longer than it is waited for',
    arrange: (cluster) => {
      cluster.clock.after(1050, () => cluster.restart(500));
      cluster.clock.after(1040, () => cluster.nodes[first]!.cut(false, 20_000));
    },
  },
  {
    name: 'the leader stands still, another takes over, and the old one wakes: it can write nothing',
    commitMs: 40,
    arrange: (cluster) => cluster.clock.after(1050, () => cluster.failOver(5000, 8000)),
    check: (_counted, { followed }) => assert.equal(followed, 1),
  },
  {
    name: 'the leader stands still and wakes as another has just taken over',
    commitMs: 40,
    arrange: (cluster) => cluster.clock.after(1050, () => cluster.failOver(5000, 5001)),
  },
  {
    name: 'nothing can be written for half a minute: nothing is lost, or computed twice',
    commitMs: 10,
    arrange: (cluster) => cluster.clock.after(1000, () => cluster.failStore(30_000)),
    check: ({ leases }, { clock }) => {
      assert.equal(leases, 100);
      assert.ok(clock.monotonicMs() > 31_000);
    },
  },
  {
    name: 'the coordinator is killed while nothing can be written',
    commitMs: 10,
    arrange: (cluster) => {
      cluster.clock.after(1000, () => cluster.failStore(30_000));
      cluster.clock.after(10_000, () => cluster.restart(500));
    },
  },
  {
    name: 'the time of day jumps an hour ahead, and two back',
    arrange: ({ clock }) => {
      for (const [atMs, byMs] of [
        [1000, 3_600_000],
        [2000, -7_200_000],
      ] as const) {
        clock.after(atMs, () => {
          clock.wallStartMs += byMs;
        });
      }
    },
    check: ({ leases }) => assert.equal(leases, 100),
  },
  {
    name: 'a device hangs until it is given up: another node does its shard meanwhile, which is not blamed',
    arrange: (cluster) => cluster.add(nature('hanging', { deviceLosses: 1, hangMs: 60_000 })),
    check: ({ leases, copies }) => assert.ok(leases <= 102 + copies, `${leases} leases`),
  },
  {
    name: 'devices are lost over the first shard that they are given',
    isEmpty: true,
    arrange: (cluster) => {
      for (const name of ['three', 'four']) cluster.add(nature(name, { deviceLosses: 1 }));
    },
  },
  {
    name: 'a node of another protocol is refused, and the others do the work',
    arrange: (cluster) => cluster.add(nature('old', { protocol: 999 })),
    check: (_counted, { nodes }) => assert.deepEqual([nodes.at(-1)!.isGone, nodes.at(-1)!.computedBytes], [true, 0]),
  },
  {
    name: 'an image is replaced by another while its tiles are computed: it is quarantined, and not mixed',
    arrange: (cluster) => cluster.jobs.set('job', frames({ kind: 'tiles', group: 5, changed: new Set([17]) })),
  },
  {
    name: 'a device is always wrong, and every result is checked',
    arrange: (cluster) => {
      cluster.jobs.set('job', frames({ verifyPercent: 100 }));
      cluster.add(nature('liar', { lies: 1 }));
    },
    check: ({ mismatches, wrongAnswers }, { nodes }) => {
      assert.ok(mismatches >= 1 && wrongAnswers >= 1);
      assert.ok(nodes.at(-1)!.isGone, 'it is sent away');
    },
  },
  {
    name: 'a device is wrong at times, and every result is checked',
    arrange: (cluster) => {
      cluster.jobs.set('job', frames({ verifyPercent: 100 }));
      cluster.add(nature('liar', { lies: 0.2 }));
    },
    check: (_counted, { nodes }) => assert.ok(nodes.at(-1)!.isGone, 'it is sent away'),
  },
];

for (const { name, isEmpty, commitMs = 0, arrange, check } of faults) {
  test(name, async () => {
    const cluster = await createCluster(7, commitMs);
    try {
      cluster.jobs.set('job', frames());
      for (const sound of isEmpty ? [] : ['one', 'two']) cluster.add(nature(sound));
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

test('a job is cancelled while its shards run: within a second nodes hold no lease of it, and other jobs go on', async () => {
  const cluster = await createCluster();
  cluster.add(nature('one'));
  cluster.add(nature('two'));
  cluster.submit(frames());
  cluster.clock.after(2000, () => void cluster.cancel('job'));
  let heldMs = 0;
  await cluster.untilEnded(() => {
    if (cluster.nodes.some(({ heldShards }) => heldShards > 0)) heldMs = cluster.clock.monotonicMs();
  });
  await cluster.until(() => cluster.nodes.every(({ heldShards }) => heldShards === 0));
  assert.ok(heldMs < 3000, `${heldMs} ms`);
  assert.equal((await cluster.ledger.getJob('job'))!.state, 'cancelled');
  assert.deepEqual(cluster.dispatcher.view.shards(), { queued: 0, paused: 0, leased: 0, done: 0 });
  cluster.jobs.delete('job');
  cluster.submit(frames({ jobId: 'next' }));
  await cluster.until(() => cluster.results.has('next') && cluster.dispatcher.jobs.openJobs === 0);
  await cluster.close();
});

test('a job fails with a sentence if all nodes fail everything for long, and nothing of it is quarantined', async () => {
  const cluster = await createCluster();
  for (const name of ['one', 'two', 'three']) cluster.add(nature(name, { failures: 1 }));
  cluster.submit(frames());
  await cluster.untilEnded();
  const { state, error, counts } = (await cluster.ledger.getJob('job'))!;
  assert.deepEqual([state, counts.quarantined], ['failed', 0]);
  assert.match(error, /^Each of the 3 nodes that there are failed every shard .*: It cannot be computed$/);
  await cluster.close();
});

test('a job fails with a sentence if the only node fails everything for long', async () => {
  const cluster = await createCluster();
  cluster.add(nature('bad', { failures: 1 }));
  cluster.submit(frames());
  await cluster.untilEnded();
  const { state, error } = (await cluster.ledger.getJob('job'))!;
  assert.equal(state, 'failed');
  assert.match(error, /^Node bad-1, the only one there is, failed every shard .*: It cannot be computed$/);
  assert.ok(cluster.clock.monotonicMs() > 90_000, `${cluster.clock.monotonicMs()} ms`);
  await cluster.close();
});

test('a job fails with a sentence if no node sees its sources for long, and nothing of it is quarantined', async () => {
  const cluster = await createCluster();
  for (const name of ['one', 'two']) cluster.add(nature(name, { blind: [blindTo('file:///in/')] }));
  cluster.submit(frames());
  await cluster.untilEnded();
  const { state, error, counts } = (await cluster.ledger.getJob('job'))!;
  assert.deepEqual([state, counts.quarantined, counts.attempts], ['failed', 0, 0]);
  const because = "node 'one': The file does not exist (/in/job/0/0.pgm) (and 1 more)";
  assert.ok(error.startsWith(`No attached node can read '/in/job/0': ${because}; mount the folder there`), error);
  assert.ok(cluster.clock.monotonicMs() > 120_000, `${cluster.clock.monotonicMs()} ms`);
  await cluster.close();
});

test('a job fails with the host and the reason if a host is away for too long, and nothing is quarantined', async () => {
  const cluster = await createCluster();
  for (const name of ['one', 'two']) cluster.add(nature(name));
  cluster.world.outages.push({ place: 'http://job-0', fromMs: 1000, untilMs: Number.POSITIVE_INFINITY });
  cluster.submit(frames({ onHosts: true }));
  const sentences = new Set<string>();
  await cluster.untilEnded(() => sentences.add(cluster.dispatcher.view.jobNow('job').waiting));
  const { state, error, counts } = (await cluster.ledger.getJob('job'))!;
  assert.deepEqual([state, counts.quarantined], ['failed', 0]);
  assert.match(
    error,
    /^The host 'job-0' was away for 600 s, as long as the job waits for it: node 'one' cannot read from it: .* \(and 1 more\); mend its address/,
  );
  assert.ok(cluster.clock.monotonicMs() > 600_000, `${cluster.clock.monotonicMs()} ms`);
  assert.ok([...sentences].some((waiting) => waiting.startsWith("It waits for host 'job-0': ")));
  await cluster.close();
});

test('a coordinator refuses a job if a bit of its log has changed', async () => {
  const cluster = await createCluster();
  cluster.add(nature('one'));
  const job = frames();
  cluster.submit(job);
  await cluster.until(() => cluster.clock.monotonicMs() > 2000);
  const logs = cluster.world.logsOf(job.jobId, acceptedJob(job).spec);
  const [epoch] = await logs.epochs();
  const file = logs.file(epoch!);
  const whole = readFileSync(file);
  for (const part of [0.1, 0.5, 0.9]) {
    const changed = Buffer.from(whole);
    changed[Math.floor(part * changed.length)]! ^= 4;
    writeFileSync(file, changed);
    await assert.rejects(cluster.lead(), /^Error: The results so far of job job are lost: The log '.*' has/);
  }
  writeFileSync(file, whole);
  await cluster.close();
});

test('a job whose disk is full does not keep other jobs of its coordinator from being done', async () => {
  const cluster = await createCluster();
  for (const name of ['one', 'two']) cluster.add(nature(name));
  cluster.world.full.push({ below: 'file:///out/job', fromMs: 50, untilMs: 120_000 });
  cluster.submit(frames());
  cluster.submit(frames({ jobId: 'other' }));
  await cluster.until(() => cluster.results.has('other'));
  assert.ok(cluster.clock.monotonicMs() < 60_000, `${cluster.clock.monotonicMs()} ms`);
  assert.match(
    cluster.dispatcher.view.jobNow('job').waiting,
    /^It waits for room in '\/out\/job' \(0 B free\): .*ENOSPC/,
  );
  await cluster.untilEnded();
  await checkOutcome(cluster);
  await cluster.close();
});
