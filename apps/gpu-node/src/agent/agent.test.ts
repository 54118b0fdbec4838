import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { type FoundAnswer, Hello, Lease, maxParts, ShardCompleted } from '@halogrid/proto';
import { createClientSecurity } from '@halogrid/service';
import { createLog } from '@halogrid/service/log';
import { createRegistry } from '@halogrid/service/metrics';
import { eventually, timeoutMs, within } from '@halogrid/testing';
import { NodeMetrics } from '../metrics/node-metrics.ts';
import { OutputError } from '../parts/output-error.ts';
import { Agents } from './agents.ts';
import { createDial } from './dial.ts';
import { FakeCoordinator, type FakeSession } from './testing/fake-coordinator.ts';

const hello = Hello.create({ nodeId: 'id', name: 'node', protocol: 1, creditBytes: 800 });

/** An executor whose shards wait for the test to finish them. */
function createShards() {
  const shards: { lease: Lease; signal: AbortSignal; finish: () => void; fail: (error: Error) => void }[] = [];
  const execute = (lease: Lease, signal: AbortSignal) =>
    new Promise<FoundAnswer>((resolve, fail) => {
      const { jobId, shard, attempt, epoch } = lease;
      const finish = () => resolve({ ...ShardCompleted.create({ jobId, shard, attempt, epoch }), results: [] });
      shards.push({ lease, signal, finish, fail });
    });
  return { shards, execute };
}

type AgentOfTest = {
  agent: Agents;
  metrics: NodeMetrics;
  loseDevice: (reason: string) => void;
  /** Resolves with the first warning of the log. */
  warned: Promise<string>;
} & ReturnType<typeof createShards>;

/** Waits until `count` shards have begun. */
const begun = (shards: readonly unknown[], count: number): Promise<boolean> =>
  eventually(`${count} shards to be begun`, () => shards.length >= count);

async function withAgent(
  coordinator: FakeCoordinator,
  use: (test: AgentOfTest) => Promise<void>,
  addresses = [coordinator.address],
  nameOf?: (address: string) => string | undefined,
): Promise<void> {
  const shards = createShards();
  const metrics = new NodeMetrics(createRegistry('node'));
  let loseDevice!: (reason: string) => void;
  const deviceGone = new Promise<string>((resolve) => {
    loseDevice = resolve;
  });
  const log = createLog('test', 'silent');
  const warned = new Promise<string>((resolve) => {
    log.warn = (sentence: unknown) => resolve(String(sentence));
  });
  const agent = new Agents({
    addresses,
    nameOf,
    hello,
    drainTimeoutMs: 8_000,
    dial: createDial(createClientSecurity({}), assert.fail),
    execute: shards.execute,
    deviceGone,
    look: async ({ probe }) => ({ probe, files: [], error: '' }),
    search: async ({ search, version }) => ({ search, version, rankings: [], error: 'No index' }),
    log,
    metrics,
    nowMs: () => performance.now(),
    random: () => 0,
  });
  try {
    await use({ agent, metrics, loseDevice, warned, ...shards });
  } finally {
    loseDevice('The test is over');
    await within('the end of the node', agent.ended);
    coordinator.close();
  }
}

/** As `withAgent`, for a node of `count` coordinators at the addresses of one name; all end with the test. */
async function withRecords(
  epochs: readonly number[],
  use: (test: { coordinators: FakeCoordinator[] } & AgentOfTest) => Promise<void>,
  toFirst = (coordinators: FakeCoordinator[]) => [coordinators[0]!.address],
): Promise<void> {
  const coordinators = epochs.map((epoch) => Object.assign(new FakeCoordinator(), { epoch }));
  for (const coordinator of coordinators) await coordinator.start();
  const nameOf = (address: string) => (address.startsWith('127.0.0.1:') ? 'coordinators' : undefined);
  try {
    await withAgent(coordinators[0]!, (test) => use({ coordinators, ...test }), toFirst(coordinators), nameOf);
  } finally {
    for (const coordinator of coordinators) coordinator.close();
  }
}

/** As `withAgent`, for a node of two coordinators; both end with the test. */
async function withTwoCoordinators(
  use: (test: { a: FakeCoordinator; b: FakeCoordinator } & AgentOfTest) => Promise<void>,
): Promise<void> {
  const [a, b] = [new FakeCoordinator(), new FakeCoordinator()];
  await a.start();
  await b.start();
  try {
    await withAgent(a, (test) => use({ a, b, ...test }), [a.address, b.address]);
  } finally {
    b.close();
  }
}

const lease = (shard: number): Lease => Lease.create({ jobId: 'job', shard, attempt: 1, epoch: 7 });

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('a node says hello, computes what it is leased and answers', async () => {
  const coordinator = new FakeCoordinator();
  await coordinator.start();
  await withAgent(coordinator, async ({ agent, shards, metrics }) => {
    const session = await coordinator.session(1);
    assert.deepEqual(await session.report('hello'), hello);
    session.lease(lease(3));
    session.lease(lease(4));
    await begun(shards, 2);
    assert.equal(agent.isAttached, true);
    assert.equal((await metrics.leases.get()).values[0]!.value, 2);
    shards[1]!.finish();
    const { jobId, shard, attempt, epoch } = await session.report('completed');
    assert.deepEqual({ jobId, shard, attempt, epoch }, { jobId: 'job', shard: 4, attempt: 1, epoch: 7 });
    shards[0]!.fail(new Error('no memory'));
    assert.deepEqual(await session.report('failed'), {
      jobId: 'job',
      shard: 3,
      attempt: 1,
      epoch: 7,
      error: 'no memory',
      output: false,
      device: false,
      need: '',
    });
    assert.equal((await metrics.leases.get()).values[0]!.value, 0);
  });
});

test('a node that is stopped with a shard has work left, and one without has none', async () => {
  for (const isBusy of [true, false]) {
    const coordinator = new FakeCoordinator();
    await coordinator.start();
    await withAgent(coordinator, async ({ agent, shards }) => {
      const session = await coordinator.session(1);
      await session.report('hello');
      session.lease(lease(3));
      await begun(shards, 1);
      assert.equal(agent.idleMs, 0);
      if (isBusy) agent.stop('SIGTERM');
      shards[0]!.finish();
      await session.report('completed');
      await eventually('an idle node', () => agent.idleMs > 0);
      agent.stop('SIGTERM');
      assert.equal(agent.drainReason, 'SIGTERM');
      await session.closedByNode();
      assert.deepEqual(await agent.ended, { code: 0, reason: 'SIGTERM', hasWorkLeft: isBusy });
    });
  }
});

test('a node whose coordinator stopped after its answer names the shard again, but has no work left', async () => {
  const coordinator = new FakeCoordinator();
  await coordinator.start();
  await withAgent(coordinator, async ({ agent, shards, metrics }) => {
    const session = await coordinator.session(1);
    await session.report('hello');
    session.lease(lease(3));
    await begun(shards, 1);
    shards[0]!.finish();
    await session.report('completed');
    session.end();
    const again = await coordinator.session(2);
    const { held } = await again.report('hello');
    assert.deepEqual(
      held.map(({ shard, inPart }) => [shard, inPart]),
      [[3, true]],
    );
    assert.equal((await metrics.leases.get()).values[0]!.value, 0);
    await eventually('an idle node', () => agent.idleMs > 0);
  });
});

test('results that cannot be written are reported as such', async () => {
  const coordinator = new FakeCoordinator();
  await coordinator.start();
  await withAgent(coordinator, async ({ shards }) => {
    const session = await coordinator.session(1);
    session.lease(lease(3));
    await begun(shards, 1);
    shards[0]!.fail(new OutputError(new Error('disk full')));
    const { error, output } = await session.report('failed');
    assert.deepEqual([error, output], ['The results cannot be written: disk full', true]);
  });
});

test('a node that dials something other than a coordinator says so, and dials on', async (t) => {
  const server = createHttpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  await withAgent(
    new FakeCoordinator(),
    async ({ warned }) => {
      const sentence = await within('a warning', warned);
      assert.match(sentence, /^Not attached yet, dialling on: What answers at 127\.0\.0\.1:\d+ speaks HTTP/);
      await within('another connection', once(server, 'connection'));
    },
    [address],
  );
});

test('a node hangs up on an order with too many parts, before it decodes the order', async () => {
  const coordinator = new FakeCoordinator();
  await coordinator.start();
  await withAgent(coordinator, async ({ warned, shards }) => {
    const session = await coordinator.session(1);
    await session.report('hello');
    const operations = Array.from({ length: maxParts + 1 }, () => ({}));
    session.lease(Lease.fromPartial({ pipeline: { operations } }));
    assert.match(await within('a warning', warned), /Expected at most 200000 parts of a message but received more/);
    await (await coordinator.session(2)).report('hello');
    assert.equal(shards.length, 0);
  });
});

test('a node waits for a coordinator that is not there yet', async () => {
  const coordinator = new FakeCoordinator();
  const port = await freePort();
  await withAgent(
    coordinator,
    async ({ agent }) => {
      assert.equal(agent.isAttached, false);
      await coordinator.start(port);
      await (await coordinator.session(1)).report('hello');
    },
    [`127.0.0.1:${port}`],
  );
});

test('a node tries every coordinator it knows', async () => {
  const coordinator = new FakeCoordinator();
  await coordinator.start();
  await withAgent(coordinator, async () => void (await (await coordinator.session(1)).report('hello')), [
    `127.0.0.1:${await freePort()}`,
    coordinator.address,
  ]);
});

test('a node dials again after its coordinator went away, and goes on with the shards that it held', async () => {
  const coordinator = new FakeCoordinator();
  coordinator.keeps = true;
  await coordinator.start();
  await withAgent(coordinator, async ({ agent, shards }) => {
    const first = await coordinator.session(1);
    await first.report('hello');
    first.lease(lease(3));
    first.lease(lease(4));
    await begun(shards, 2);
    first.end();
    await eventually('the node to notice that its coordinator is gone', () => !agent.isAttached);
    // One shard ends before there is a coordinator again, the other after.
    shards[0]!.finish();
    const second = await coordinator.session(2);
    const { shard, epoch } = await second.report('completed');
    assert.deepEqual([shard, epoch], [3, 8]);
    shards[1]!.finish();
    await eventually('a third report', () => second.reports.length >= 3);
    const reports = second.reports.map((report) => report.$case === 'completed' && report.value.shard);
    assert.deepEqual(reports, [false, 3, 4]);
    assert.equal(shards.length, 2);
  });
});

test('a node drops the shards that the next coordinator does not want', async () => {
  const coordinator = new FakeCoordinator();
  await coordinator.start();
  await withAgent(coordinator, async ({ shards }) => {
    const first = await coordinator.session(1);
    first.lease(lease(3));
    await begun(shards, 1);
    first.end();
    const second = await coordinator.session(2);
    const held = [{ jobId: 'job', shard: 3, attempt: 1, epoch: 7, verify: false, inPart: false }];
    assert.deepEqual(await second.report('hello'), { ...hello, held });
    second.lease(lease(5));
    await begun(shards, 2);
    assert.equal(shards[0]!.signal.aborted, true);
    shards[0]!.finish();
    shards[1]!.finish();
    assert.equal((await second.report('completed')).shard, 5);
  });
});

test('a node that hears nothing dials again', async () => {
  const coordinator = new FakeCoordinator(150);
  await coordinator.start();
  await withAgent(coordinator, async () => {
    // Its first conversation may be over before a heartbeat was due. Only the second one is certain.
    (await coordinator.session(1)).answers = false;
    await (await coordinator.session(2)).report('hello');
  });
});

test('heartbeats keep a quiet conversation alive', async () => {
  const coordinator = new FakeCoordinator(timeoutMs(600));
  await coordinator.start();
  await withAgent(coordinator, async () => {
    const session = await coordinator.session(1);
    await eventually('four heartbeats', () => session.reports.length >= 5);
    assert.deepEqual(new Set(session.reports.map(({ $case }) => $case)), new Set(['hello', 'heartbeat']));
    assert.equal(coordinator.sessions.length, 1);
  });
});

test('a recalled shard is not answered', async () => {
  const coordinator = new FakeCoordinator();
  await coordinator.start();
  await withAgent(coordinator, async ({ shards }) => {
    const session = await coordinator.session(1);
    session.lease(lease(3));
    session.lease(lease(4));
    await begun(shards, 2);
    session.send({ $case: 'recall', value: { jobId: 'job', shards: [3] } });
    await eventually('the end of a shard that is taken away', () => shards[0]!.signal.aborted);
    for (const { finish } of shards) finish();
    await session.report('completed');
    const answered = session.reports.flatMap((report) => (report.$case === 'completed' ? [report.value.shard] : []));
    assert.deepEqual(answered, [4]);
  });
});

test('a node that is stopped finishes its shards, says goodbye and ends with code 0', async () => {
  const coordinator = new FakeCoordinator();
  await coordinator.start();
  await withAgent(coordinator, async ({ agent, shards }) => {
    const session = await coordinator.session(1);
    session.lease(lease(3));
    await begun(shards, 1);
    agent.stop('SIGTERM was received');
    await session.report('draining');
    assert.equal(session.isClosedByNode, false);
    shards[0]!.finish();
    await session.closedByNode();
    assert.deepEqual(await within('the end of the node', agent.ended), {
      code: 0,
      reason: 'SIGTERM was received',
      hasWorkLeft: true,
    });
    assert.equal(session.reports.at(-1)!.$case, 'completed');
  });
});

test('a node that is refused ends with the reason', async () => {
  const coordinator = new FakeCoordinator(60_000, false);
  await coordinator.start();
  await withAgent(coordinator, async ({ agent }) => {
    const session = await coordinator.session(1);
    await session.report('hello');
    session.refuse('Protocol 2 is spoken here');
    const reason = 'The coordinator refuses this node: Protocol 2 is spoken here';
    assert.deepEqual(await within('the end of the node', agent.ended), { code: 1, reason, hasWorkLeft: false });
  });
});

test('a node without a device ends with the reason', async () => {
  const coordinator = new FakeCoordinator();
  await coordinator.start();
  await withAgent(coordinator, async ({ agent, loseDevice }) => {
    await (await coordinator.session(1)).report('hello');
    loseDevice('It burned down.');
    assert.deepEqual(await within('the end of the node', agent.ended), {
      code: 1,
      reason: 'It burned down.',
      hasWorkLeft: false,
    });
  });
});

test('busy coordinators share the credit equally, and never have more than there is', async () => {
  await withTwoCoordinators(async ({ a, b, shards }) => {
    const [first, second] = [await a.session(1), await b.session(1)];
    /** What each may lease when all messages under way have arrived. */
    const credits = new Map([
      [first, (await first.report('hello')).creditBytes],
      [second, (await second.report('hello')).creditBytes],
    ]);
    assert.deepEqual([...credits.values()].toSorted(), [0, 400]);
    const bytesOf = (costBytes: number, shard: number, jobId: string) => ({ ...lease(shard), costBytes, jobId });
    const next = async (session: FakeSession): Promise<number> => {
      const { bytes } = await session.next('credit');
      const sum = [...credits].reduce((bytes, [other, credit]) => bytes + (other === session ? 0 : credit), bytes);
      assert.ok(sum <= 800, `${sum} bytes of 800`);
      credits.set(session, Math.max(bytes, credits.get(session)!));
      session.send({ $case: 'creditTaken', value: { bytes } });
      credits.set(session, bytes);
      return bytes;
    };
    // The first is busy, the second is idle.
    first.lease(bytesOf(300, 1, 'a'));
    first.lease(bytesOf(100, 2, 'a'));
    assert.equal(await next(second), 100);
    while (credits.get(first) !== 700) await next(first);
    // Now both are busy.
    first.lease(bytesOf(300, 3, 'a'));
    second.lease(bytesOf(100, 1, 'b'));
    second.lease(bytesOf(50, 2, 'b'));
    await begun(shards, 5);
    assert.ok((await next(first)) < 700);
    // Credit that shards of the first use is not given away before they are done.
    for (const shard of shards.slice(0, 3)) shard.finish();
    assert.ok((await next(second)) > 100);
  });
});

test('a coordinator that goes away leaves its credit to the other', async () => {
  await withTwoCoordinators(async ({ a, b, agent }) => {
    const [first, second] = [await a.session(1), await b.session(1)];
    for (const session of [first, second]) await session.report('hello');
    b.close();
    for (let bytes = 0; bytes < 800; ) {
      ({ bytes } = await first.next('credit'));
      first.send({ $case: 'creditTaken', value: { bytes } });
    }
    assert.equal(agent.isAttached, true);
  });
});

test('shards of a job go on when another coordinator leads it, and raise the credit of that coordinator', async () => {
  await withTwoCoordinators(async ({ a, b, shards }) => {
    const [first, second] = [await a.session(1), await b.session(1)];
    for (const session of [first, second]) await session.report('hello');
    for (const shard of [1, 2]) first.lease({ ...lease(shard), costBytes: 100 });
    first.lease({ ...lease(3), jobId: 'other' });
    await begun(shards, 3);
    second.send({ $case: 'bring', value: { jobId: 'job', epoch: 9 } });
    const { held, creditBytes } = await second.next('brought');
    assert.deepEqual(
      held.map(({ shard, epoch }) => [shard, epoch]),
      [
        [1, 7],
        [2, 7],
      ],
    );
    assert.ok(creditBytes >= 200 && creditBytes <= 800, `${creditBytes}`);
    second.send({ $case: 'creditTaken', value: { bytes: creditBytes } });
    second.send({ $case: 'kept', value: { jobId: 'job', kept: [{ ...held[1]!, epoch: 9 }] } });
    await eventually('the end of a shard that is taken away', () => shards[0]!.signal.aborted);
    shards[1]!.finish();
    const { shard, epoch } = await second.next('completed');
    assert.deepEqual([shard, epoch], [2, 9]);
    // A lease of the same epoch or a later one is not taken away.
    second.send({ $case: 'bring', value: { jobId: 'other', epoch: 7 } });
    shards[2]!.finish();
    assert.equal((await first.next('completed')).jobId, 'other');
  });
});

test('a node works for a coordinator whose address its name gets, and shares its credit', async () => {
  await withRecords([7, 9], async ({ coordinators: [a, b], agent, shards }) => {
    const first = await a!.session(1);
    assert.equal((await first.report('hello')).creditBytes, 800);
    await agent.setAddresses([a!.address, b!.address]);
    const session = await b!.session(1);
    assert.equal((await session.report('hello')).creditBytes, 0);
    const left = await first.next('credit');
    first.send({ $case: 'creditTaken', value: left });
    const { bytes } = await session.next('credit');
    assert.ok(bytes > 0 && bytes <= 800 - left.bytes, `${bytes} of 800, ${left.bytes} are left to the other`);
    session.lease(lease(1));
    await begun(shards, 1);
  });
});

test('a coordinator whose address its name has lost is left when its connection ends', async () => {
  await withRecords([7, 9], async ({ coordinators: [a, b], agent, shards, metrics }) => {
    await agent.setAddresses([a!.address, b!.address]);
    const [first, second] = [await a!.session(1), await b!.session(1)];
    for (const session of [first, second]) await session.report('hello');
    await agent.setAddresses([b!.address]);
    first.lease(lease(1));
    await begun(shards, 1);
    shards[0]!.finish();
    await first.report('completed');
    first.end();
    a!.close();
    const all = async () => (await metrics.attached.get()).values[0]!.value;
    await eventually('all credit to be of the other', async () => {
      const bytes = second.reports.some((report) => report.$case === 'credit') && (await second.next('credit')).bytes;
      if (bytes) second.send({ $case: 'creditTaken', value: { bytes } });
      return bytes === 800;
    });
    assert.equal(await all(), 1);
    second.lease(lease(2));
    await begun(shards, 2);
  });
});

test('a coordinator that was dialled by its name is dialled by its address after the node has drained', async () => {
  await withRecords(
    [7, 9],
    async ({ coordinators: [a, b], agent, shards }) => {
      const named = await a!.session(1);
      named.lease(lease(1));
      await begun(shards, 1);
      const changed = agent.setAddresses([a!.address, b!.address]);
      await named.report('draining');
      assert.equal(a!.sessions.length, 1);
      shards[0]!.finish();
      await named.report('completed');
      await within('the change', changed);
      await (await a!.session(2)).report('hello');
      await (await b!.session(1)).report('hello');
    },
    ([a]) => [`localhost:${a!.port}`],
  );
});

test('a coordinator with two addresses has one conversation', async () => {
  await withRecords([7, 7], async ({ coordinators: [a, b], agent }) => {
    await a!.session(1);
    await agent.setAddresses([a!.address, b!.address]);
    await b!.session(1);
    await (await a!.session(1)).closedByNode();
    await agent.setAddresses([a!.address, b!.address]);
    assert.equal(agent.isAttached, true);
    assert.deepEqual([a!.sessions.length, b!.sessions.length], [1, 1]);
  });
});
