import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually, within } from '@halogrid/testing';
import type { FakeSession } from './testing/fake-coordinator.ts';
import { begun, lease, withRecords, withTwoCoordinators } from './testing/with-agent.ts';

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

test('a conversation that leaves and is welcomed once more does not end the other with the same coordinator', async () => {
  await withRecords([7, 7], async ({ coordinators: [a, b], agent, shards }) => {
    const lost = await a!.session(1);
    await lost.report('hello');
    lost.lease(lease(1));
    await begun(shards, 1);
    // It dials again with its shard, and is not welcomed before the other conversation.
    a!.welcomes = false;
    lost.end();
    const leaving = await a!.session(2);
    const { held } = await leaving.report('hello');
    await agent.setAddresses([a!.address, b!.address]);
    const other = await b!.session(1);
    other.lease(lease(2));
    await begun(shards, 2);
    leaving.send({ $case: 'welcome', value: { epoch: 7, httpPort: 0, kept: held, protocol: 0 } });
    await leaving.report('draining');
    shards[0]!.finish();
    assert.equal((await leaving.report('completed')).shard, 1);
    await leaving.closedByNode();
    shards[1]!.finish();
    assert.equal((await other.report('completed')).shard, 2);
    assert.ok(other.reports.every(({ $case }) => $case !== 'draining'));
  });
});
