import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LostLedgerError, MemoryRegistry, RegistryMemory } from '@halogrid/ledger';
import { begin } from '@halogrid/ledger/testing-registry-conformance';
import { createLog } from '@halogrid/service/log';
import { turns } from '@halogrid/testing';
import { Leadership } from './leadership.ts';
import { askEveryMs, giveUpMs, leaseMs } from './lease-keeping.ts';

const log = createLog('test', 'silent');
const begun = begin('a', 'running');

/** Coordinators on one registry, and a clock that the test moves. */
function setStage(t: TestContext) {
  let nowMs = 0;
  const clock = () => nowMs;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const memory = new RegistryMemory();
  return {
    join: (holder: string) => {
      const registry = new MemoryRegistry({ memory, nowMs: clock });
      return { registry, leadership: new Leadership({ registry, holder, nowMs: clock, log }) };
    },
    /** Lets time pass, in steps that are much shorter than every interval, with answers in between. */
    pass: async (ms: number) => {
      for (const endMs = nowMs + ms; nowMs < endMs; nowMs += 100) {
        t.mock.timers.tick(100);
        await turns();
      }
    },
  };
}

/** Whether a promise has settled. */
const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  const pending = Symbol('pending');
  return (await Promise.race([promise, turns().then(() => pending)])) !== pending;
};

test('the first process leads at once, keeps the lease, and passes it to the next at once', async (t) => {
  const { join, pass } = setStage(t);
  const [a, b] = [join('A').leadership, join('B').leadership];
  assert.equal(await a.led, 1);
  await pass(20 * leaseMs);
  assert.deepEqual([a.standby, b.standby, a.epoch, b.epoch], [undefined, 'Standby: A leads', 1, 1]);
  await a.close();
  await pass(askEveryMs);
  assert.equal(b.standby, undefined);
  assert.equal(await b.led, 2);
  await b.close();
});

test('a silent leader is replaced within the lease and one interval of questions', async (t) => {
  const { join, pass } = setStage(t);
  const a = join('A');
  await a.leadership.led;
  const b = join('B').leadership;
  await pass(3 * leaseMs);
  // The leader hangs from now on.
  a.registry.renew = () => new Promise(() => {});
  await pass(leaseMs + askEveryMs);
  assert.equal(await b.led, 2);
  await b.close();
});

test('a leader that wakes up learns that it no longer leads', async (t) => {
  const { join, pass } = setStage(t);
  const a = join('A');
  await a.leadership.led;
  const renew = a.registry.renew.bind(a.registry);
  let wake = () => {};
  a.registry.renew = async (epoch, ms) => {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
    return renew(epoch, ms);
  };
  const b = join('B').leadership;
  await pass(leaseMs + 2 * askEveryMs);
  assert.equal(await isSettled(a.leadership.lost), false);
  wake();
  const sentence = 'Another coordinator has taken over from this one, which had epoch 1: B leads, with epoch 2';
  assert.equal(await a.leadership.lost, sentence);
  assert.equal(a.leadership.standby, sentence);
  await a.leadership.close();
  assert.equal(b.standby, undefined);
  await b.close();
});

test('a fenced write is reported at once, and its promise never settles', async (t) => {
  const { join, pass } = setStage(t);
  const a = join('A');
  const epoch = await a.leadership.led;
  await a.leadership.registry.write(epoch, [begun]);
  a.registry.renew = () => new Promise(() => {});
  const b = join('B').leadership;
  await pass(leaseMs + 2 * askEveryMs);
  const written = a.leadership.registry.write(epoch, [{ kind: 'remove', jobId: 'a' }]);
  assert.match(await a.leadership.lost, /B leads, with epoch 2$/);
  assert.equal(await isSettled(written), false);
  assert.deepEqual(
    (await Array.fromAsync(b.registry.jobs())).map(({ jobId }) => jobId),
    ['a'],
  );
  await b.close();
});

test('a lost ledger ends the leader and the standby', async (t) => {
  const { join, pass } = setStage(t);
  const [a, b] = [join('A'), join('B')];
  await a.leadership.led;
  const sentence = 'The ledger was deleted';
  a.registry.renew = () => Promise.reject(new LostLedgerError(sentence));
  b.registry.acquire = () => Promise.reject(new LostLedgerError(sentence));
  await pass(2 * askEveryMs);
  for (const { leadership } of [a, b]) {
    assert.equal(await leadership.lost, sentence);
    assert.equal(leadership.standby, sentence);
    await leadership.close();
  }
  // A damaged ledger is not changed, not even to release the lease.
  assert.deepEqual(await a.registry.leader(), { holder: 'A', epoch: 1 });
});

test('a lost ledger that other code finds ends the leader at once', async (t) => {
  const { leadership } = setStage(t).join('A');
  await leadership.led;
  leadership.end('The ledger is damaged');
  assert.deepEqual([await leadership.lost, leadership.standby], ['The ledger is damaged', 'The ledger is damaged']);
  await leadership.close();
});

test('any other failure of a write goes to the caller', async (t) => {
  const { join } = setStage(t);
  const { registry, leadership } = join('A');
  const epoch = await leadership.led;
  registry.failure = new Error('The disk is full');
  await assert.rejects(leadership.registry.write(epoch, [begun]), { message: 'The disk is full' });
  assert.equal(await isSettled(leadership.lost), false);
  await leadership.close();
});

test('a leader goes on while the ledger is unreachable for less than its patience', async (t) => {
  const { join, pass } = setStage(t);
  const { registry, leadership } = join('A');
  await leadership.led;
  const renew = registry.renew;
  registry.renew = () => Promise.reject(new Error('No route'));
  await pass(giveUpMs - 3 * askEveryMs);
  registry.renew = renew;
  await pass(2 * askEveryMs);
  registry.renew = () => new Promise(() => {});
  await pass(giveUpMs - 3 * askEveryMs);
  assert.equal(await isSettled(leadership.lost), false);
  await pass(5 * askEveryMs);
  assert.match(await leadership.lost, /could not be renewed for 180 s: the ledger does not answer$/);
});
