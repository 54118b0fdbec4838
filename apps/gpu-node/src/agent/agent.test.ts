import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { Lease, maxParts } from '@halogrid/proto';
import { eventually, freePort, timeoutMs, within } from '@halogrid/testing';
import { OutputError } from '../parts/output-error.ts';
import { FakeCoordinator } from './testing/fake-coordinator.ts';
import { begun, hello, lease, withAgent } from './testing/with-agent.ts';

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
