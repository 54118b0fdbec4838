import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@halogrid/service/clock';
import { createLog } from '@halogrid/service/log';
import { eventually, turns } from '@halogrid/testing';
import { DamagedLedgerError } from '../registry/ledger-errors.ts';
import { MemoryRegistry } from '../registry/memory-registry.ts';
import { FencedError, type JobChange } from '../registry/registry.ts';
import { Journal, type Journaled } from './journal.ts';

/** A count that is kept as the status of a job. */
class Count implements Journaled {
  value = 0;
  syncs = 0;
  failure: Error | undefined;
  readonly #jobId: string;

  constructor(jobId: string) {
    this.#jobId = jobId;
  }

  async append(): Promise<readonly JobChange[]> {
    const { value } = this;
    await this.sync();
    return [{ kind: 'begin', jobId: this.#jobId, spec: '', status: String(value), marks: [] }];
  }

  async sync(): Promise<void> {
    this.syncs++;
    if (this.failure) throw this.failure;
  }
}

/** A journal whose registry counts transactions, and holds them up while it is told to. */
async function stage(nowMs?: () => number) {
  const registry = new MemoryRegistry();
  const epoch = (await registry.acquire('test', 60_000))!;
  const held: PromiseWithResolvers<void>[] = [];
  let isHeld = false;
  let groups = 0;
  const write = registry.write.bind(registry);
  registry.write = async (...given) => {
    groups++;
    if (isHeld) {
      held.push(Promise.withResolvers());
      await held.at(-1)!.promise;
    }
    await write(...given);
  };
  const log = createLog('test', 'silent');
  /** Messages that are shown to a user who waits for a job. */
  const notices: string[] = [];
  const say = ({ notice }: { notice: boolean }, sentence: string) => notice && notices.push(sentence);
  Object.assign(log, { warn: say, error: say });
  const lost: Error[] = [];
  const journal = new Journal({
    registry,
    epoch,
    log,
    lost: (error) => lost.push(error),
    nowMs: nowMs ?? systemClock.monotonicMs,
  });
  return {
    lost,
    registry,
    journal,
    notices,
    groups: () => groups,
    hold: () => {
      isHeld = true;
    },
    letGo: () => {
      isHeld = false;
      for (const write of held.splice(0)) write.resolve();
    },
    kept: async (jobId: string) => {
      for await (const { status } of registry.jobs([jobId])) return Number(status);
      return undefined;
    },
  };
}

test('the first change is written at once, and all changes that come meanwhile in the next transaction', async () => {
  const { journal, groups, hold, letGo, kept } = await stage();
  const [a, b] = [new Count('a'), new Count('b')];
  hold();
  a.value = 1;
  const first = journal.write(a);
  await turns();
  assert.equal(groups(), 1);
  const rest: Promise<void>[] = [];
  for (a.value = 2; a.value < 100; a.value++) rest.push(journal.write(a), journal.write(b));
  await turns();
  assert.equal(groups(), 1);
  assert.ok(journal.behind().ms > 0);
  letGo();
  await first;
  assert.equal(await kept('a'), 1);
  await Promise.all(rest);
  assert.deepEqual([await kept('a'), await kept('b'), groups()], [100, 0, 2]);
  await turns();
  assert.deepEqual(journal.behind(), { ms: 0, failure: undefined });
});

test('a group that cannot be written is tried again until it is, and nothing is acknowledged meanwhile', async () => {
  const { registry, journal, notices, groups, kept } = await stage();
  const count = new Count('a');
  registry.failure = new Error('The disk is full');
  count.value = 1;
  let acknowledged = 0;
  const writes = [1, 2].map((value) => {
    count.value = value;
    return journal.write(count).then(() => acknowledged++);
  });
  await eventually('a third attempt', () => groups() >= 3);
  assert.deepEqual([acknowledged, journal.behind().failure], [0, 'The disk is full']);
  assert.deepEqual(notices, ['The ledger cannot be written, and is tried again: The disk is full']);
  count.value = 3;
  const later = journal.write(count);
  registry.failure = undefined;
  await Promise.all(writes);
  assert.equal(await kept('a'), 2);
  await later;
  assert.deepEqual([await kept('a'), journal.behind().failure], [3, undefined]);
  assert.match(notices[1]!, /^The ledger is written again, after \d+\.\d seconds$/);
});

const noRoom = (): Error => new Error('no room', { cause: Object.assign(new Error('write'), { code: 'ENOSPC' }) });

test('changes that a full disk keeps from being synced wait alone and are written once, in order; lost changes fail alone', async () => {
  const { journal, kept } = await stage();
  const [lost, full, well] = [new Count('lost'), new Count('full'), new Count('well')];
  lost.failure = new Error('it is short');
  full.failure = noRoom();
  full.value = 1;
  const [never, late, ...others] = [lost, full, well].map((count) => journal.write(count));
  let isLate = true;
  void late!.then(() => {
    isLate = false;
  });
  await assert.rejects(never!, { message: 'it is short' });
  await Promise.all(others);
  well.value = 7;
  await journal.write(well);
  assert.deepEqual([await kept('well'), isLate, journal.behind()], [7, true, { ms: 0, failure: undefined }]);
  assert.deepEqual([journal.lackOf(full), journal.lackOf(well)], [{ kind: 'room', error: 'no room' }, undefined]);
  full.value = 2;
  const later = journal.write(full);
  full.failure = undefined;
  await Promise.all([late, later]);
  assert.deepEqual([await kept('full'), await kept('lost'), journal.lackOf(full)], [2, undefined, undefined]);
  lost.failure = undefined;
  await assert.rejects(journal.write(lost), { message: 'it is short' });
});

test('changes that come while a held-back group is being synced wait with it', async () => {
  const { journal, kept } = await stage();
  const full = new Count('full');
  const syncing = Promise.withResolvers<void>();
  const sync = full.sync.bind(full);
  full.sync = () => syncing.promise.then(sync);
  full.failure = noRoom();
  const first = journal.write(full);
  await eventually('the journal to be behind', () => journal.behind().ms > 0);
  await turns();
  full.value = 9;
  const second = journal.write(full);
  syncing.resolve();
  await eventually('the job to lack room', () => journal.lackOf(full));
  full.failure = undefined;
  await Promise.all([first, second]);
  assert.equal(await kept('full'), 9);
});

test('a journal that another leader fences off gives up its held-back changes too', async () => {
  const { journal, registry } = await stage();
  const [full, well] = [new Count('full'), new Count('well')];
  full.failure = noRoom();
  const held = journal.write(full);
  await eventually('the job to lack room', () => journal.lackOf(full));
  registry.failure = new FencedError(1, undefined);
  await assert.rejects(journal.write(well), FencedError);
  await assert.rejects(held, FencedError);
});

test('held-back changes are given up when they are no longer wanted, or the journal closes', async () => {
  for (const end of ['give up', 'close'] as const) {
    const { journal, kept } = await stage();
    const full = new Count('full');
    full.failure = noRoom();
    const never = journal.write(full);
    never.catch(() => {});
    await eventually('the job to lack room', () => journal.lackOf(full));
    if (end === 'give up') journal.giveUp(full);
    else await journal.close();
    await assert.rejects(never, { message: 'no room' });
    await assert.rejects(journal.write(full), { message: end === 'close' ? 'The ledger is closed' : 'no room' });
    assert.equal(await kept('full'), undefined);
  }
});

test('if another process leads, nothing is written or tried again', async () => {
  const { registry, journal, groups, kept } = await stage();
  const count = new Count('a');
  const write = registry.write;
  registry.write = async (epoch, changes) => {
    await write(epoch + 1, changes);
  };
  const first = journal.write(count);
  await assert.rejects(first, FencedError);
  await assert.rejects(journal.write(count), FencedError);
  assert.deepEqual([await kept('a'), groups()], [undefined, 1]);
});

test('if the registry is lost, this is reported once, and waiting callers never hear anything', async () => {
  const { registry, journal, lost, notices, groups } = await stage();
  const [a, b] = [new Count('a'), new Count('b')];
  registry.failure = new DamagedLedgerError('a page is torn');
  let settled = 0;
  const settle = () => void settled++;
  const ask = (what: Promise<void>) => what.then(settle, settle);
  void ask(journal.write(a));
  await turns();
  void ask(journal.write(b));
  await eventually('the ledger to be lost', () => lost.length > 0);
  registry.failure = undefined;
  void ask(journal.write(a));
  void ask(journal.written(b));
  await journal.close();
  await turns();
  assert.deepEqual(
    lost.map(({ message }) => message),
    ['The ledger is damaged: a page is torn'],
  );
  assert.deepEqual([settled, groups(), notices], [0, 1, []]);
});

test('closing writes pending changes, and gives up those that cannot be written now', async () => {
  const { journal, kept } = await stage();
  const count = new Count('a');
  count.value = 5;
  const write = journal.write(count);
  await journal.close();
  await write;
  assert.equal(await kept('a'), 5);
  await assert.rejects(journal.write(count), { message: 'The ledger is closed' });

  const failing = await stage();
  failing.registry.failure = new Error('The disk is full');
  const never = failing.journal.write(count);
  never.catch(() => {});
  await turns();
  await failing.journal.close();
  await assert.rejects(never, { message: 'The disk is full' });
});

test('a registry that does not answer for five seconds is reported, until it answers', async () => {
  let nowMs = 0;
  const { journal, hold, letGo } = await stage(() => nowMs);
  hold();
  const written = journal.write(new Count('a'));
  await turns();
  nowMs = 4999;
  assert.deepEqual(journal.behind(), { ms: 4999, failure: undefined });
  nowMs = 5000;
  assert.deepEqual(journal.behind(), { ms: 5000, failure: 'it does not answer' });
  letGo();
  await written;
  await turns();
  assert.deepEqual(journal.behind(), { ms: 0, failure: undefined });
});
