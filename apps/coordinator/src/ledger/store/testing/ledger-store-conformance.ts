import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually, pause, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { type Change, type Entry, type EntryFilter, FencedError, type LedgerStore } from '../ledger-store.ts';

/** Opens one more store on the same database. */
export type OpenSame = () => Promise<LedgerStore>;

/** Far longer than any test. */
const longMs = 600_000;

/** Holds any store to what `LedgerStore` says. `makeDatabase` makes an empty one that goes when the test ends. */
export function ledgerStoreConformance(
  name: string,
  makeDatabase: (t: TestContext) => Promise<OpenSame>,
  options: { skip?: string | false; hasShares?: boolean } = {},
): void {
  const { hasShares = false, ...testOptions } = options;
  /** A check for stores that one leads at a time. */
  const checkAlone = (what: string, act: (open: OpenSame) => Promise<void>) => hasShares || check(what, act);
  const check = (what: string, act: (open: OpenSame) => Promise<void>) =>
    test(`${name}: ${what}`, testOptions, async (t) => {
      const open = await makeDatabase(t);
      const opened: LedgerStore[] = [];
      try {
        await act(async () => {
          const store = await open();
          opened.push(store);
          return store;
        });
      } finally {
        for (const store of opened) await store.close();
      }
    });

  check('what was written is there, in order, also for another that opens it later', async (open) => {
    const store = await open();
    const epoch = await lead(store);
    await store.write(epoch, [
      put('b', 'shards', 10, 'b10'),
      put('b', 'shards', 9, 'b9'),
      put('a', 'plan', 0, ''),
      put('a', 'job', 2 ** 53 - 1, 'last'),
    ]);
    const expected = [
      ['a', 'job', 2 ** 53 - 1, 'last'],
      ['a', 'plan', 0, ''],
      ['b', 'shards', 9, 'b9'],
      ['b', 'shards', 10, 'b10'],
    ];
    assert.deepEqual(await texts(store), expected);
    await store.close();
    const later = await open();
    assert.deepEqual(await texts(later), expected);
    assert.deepEqual(await texts(later, { jobId: 'b' }), expected.slice(2));
    assert.deepEqual(await texts(later, { kind: 'plan' }), expected.slice(1, 2));
    assert.deepEqual(await texts(later, { jobId: 'a', kind: 'job' }), expected.slice(0, 1));
    assert.deepEqual(await texts(later, { jobId: 'c' }), []);
  });

  check('any changes leave what a map would hold', async (open) => {
    const store = await open();
    const epoch = await lead(store);
    const jobId = fc.constantFrom('a', 'aa', 'B', 'a-1', 'a_1');
    const kind = fc.constantFrom('job', 'Job', 'plan', 'plan-2');
    const change: fc.Arbitrary<Change> = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.record({
          jobId,
          kind,
          key: fc.nat(4),
          value: fc.option(fc.uint8Array({ maxLength: 5 }), { nil: undefined, freq: 4 }),
        }),
      },
      { weight: 1, arbitrary: fc.record({ jobId }) },
    );
    const model = new Map<string, Entry>();
    const filters: EntryFilter[] = [{}, { jobId: 'a' }, { kind: 'plan' }, { jobId: 'aa', kind: 'job' }];
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 30 }), async (changes) => {
        await store.write(epoch, changes);
        applyToModel(model, changes);
        for (const of of filters) assert.deepEqual(await all(store, of), modelEntries(model, of));
      }),
      { numRuns: repeated(5, 50) },
    );
  });

  check('the caller may change its values once write has returned', async (open) => {
    const store = await open();
    const epoch = await lead(store);
    const memory = Buffer.from('..before..');
    const written = store.write(epoch, [{ jobId: 'a', kind: 'job', key: 0, value: memory.subarray(2, 8) }]);
    memory.fill('x');
    await written;
    assert.deepEqual(await texts(store), [['a', 'job', 0, 'before']]);
  });

  checkAlone('one leads at a time, with a higher epoch each time', async (open) => {
    const [first, second] = [await open(), await open()];
    assert.equal(await first.leader(), undefined);
    const epoch = (await first.acquire('first', longMs))!;
    assert.ok(epoch > 0);
    assert.equal(await second.acquire('second', longMs), undefined);
    assert.equal(await first.acquire('first', longMs), undefined);
    assert.deepEqual(await second.leader(), { holder: 'first', epoch });
    assert.equal(await first.renew(epoch, longMs), true);
    assert.equal(await second.renew(epoch - 1, longMs), false);
    await second.release(epoch - 1);
    assert.deepEqual(await second.leader(), { holder: 'first', epoch });

    await first.release(epoch);
    assert.equal(await second.leader(), undefined);
    assert.equal(await first.renew(epoch, longMs), false);
    const next = (await second.acquire('second', longMs))!;
    assert.ok(next > epoch);
    assert.deepEqual(await first.leader(), { holder: 'second', epoch: next });
  });

  checkAlone('of many that ask at once, one gets it', async (open) => {
    const stores = await Promise.all([open(), open(), open(), open()]);
    const epochs = await Promise.all(stores.map((store, i) => store.acquire(`store ${i}`, longMs)));
    assert.equal(epochs.filter((epoch) => epoch !== undefined).length, 1);
  });

  checkAlone('a lease that is not renewed ends, and its holder may go on until another leads', async (open) => {
    const [first, second] = [await open(), await open()];
    const epoch = (await first.acquire('first', 50))!;
    await eventually('the end of the lease', async () => !(await second.leader()));
    await first.write(epoch, [put('a', 'job', 0, 'late')]);
    assert.equal(await first.renew(epoch, 50), true);
    const next = await eventually('the next leader', () => second.acquire('second', longMs));
    assert.ok(next > epoch);
    assert.equal(await first.renew(epoch, longMs), false);
    assert.deepEqual(await first.leader(), { holder: 'second', epoch: next });
  });

  checkAlone('a renewed lease lasts as long as its last renewal says', async (open) => {
    const [first, second] = [await open(), await open()];
    const epoch = (await first.acquire('first', 20))!;
    assert.equal(await first.renew(epoch, longMs), true);
    await pause(50);
    assert.equal(await second.acquire('second', longMs), undefined);
  });

  checkAlone('who leads no more writes nothing', async (open) => {
    const [first, second] = [await open(), await open()];
    const epoch = await lead(first);
    await first.write(epoch, [put('a', 'job', 0, 'kept')]);
    await first.release(epoch);
    const changes = [put('a', 'job', 0, 'changed'), put('b', 'job', 0, 'new'), { jobId: 'a' }];
    await assert.rejects(first.write(epoch, changes), FencedError);
    const next = (await second.acquire('second', longMs))!;
    await assert.rejects(first.write(epoch, changes), {
      name: 'FencedError',
      message: `Another coordinator leads now (epoch ${next}, second); this one had epoch ${epoch}`,
    });
    await assert.rejects(second.write(next + 1, changes), FencedError);
    assert.deepEqual(await texts(second), [['a', 'job', 0, 'kept']]);
    await second.write(next, [put('a', 'job', 0, 'changed')]);
    assert.deepEqual(await texts(first), [['a', 'job', 0, 'changed']]);
  });

  checkAlone('while leaders change, nothing of an older one replaces what a newer one wrote', async (open) => {
    const stores = await Promise.all([open(), open(), open()]);
    const epochs = new Set<number>();
    const compete = async (store: LedgerStore): Promise<void> => {
      const seen = [0, 0, 0];
      while (epochs.size < 12) {
        await pause(2);
        const epoch = await store.acquire('one of three', 1);
        if (epoch === undefined) continue;
        assert.ok(!epochs.has(epoch), `epoch ${epoch} was given twice`);
        epochs.add(epoch);
        for (let key = 0; key < 3; key++) {
          await store.write(epoch, [put('a', 'epoch', key, String(epoch))]).catch((error) => {
            assert.ok(error instanceof FencedError, String(error));
          });
          for (const [, , at, text] of await texts(store)) {
            assert.ok(Number(text) >= seen[at as number]!, `${text} replaced ${seen[at as number]}`);
            seen[at as number] = Number(text);
          }
        }
      }
    };
    await Promise.all(stores.map(compete));
  });

  check('entries are read a page at a time, however many there are', async (open) => {
    const store = await open();
    const epoch = await lead(store);
    const count = 3000;
    const value = new Uint8Array(8000);
    await store.write(
      epoch,
      Array.from({ length: count }, (_, key) => ({ jobId: 'a', kind: 'shards', key, value })),
    );
    // One in memory holds them anyway. Beside other tests in one process, to know what is held takes a second each time (measured).
    const isOutside = name !== 'MemoryStore';
    const before = isOutside ? heldBytes() : 0;
    let held = 0;
    let expected = 0;
    for await (const { key } of store.entries()) {
      assert.equal(key, expected++);
      if (isOutside && key === 2250) held = heldBytes() - before;
    }
    assert.equal(expected, count);
    // Of 24 MB 18 have passed by then, in pages of 1 MB.
    assert.ok(held < 5e6, `${held} bytes were held`);
  });

  check('a value of 4 MB, and many of them in one transaction', async (open) => {
    const store = await open();
    const epoch = await lead(store);
    const values = Array.from({ length: 5 }, (_, i) => {
      const value = new Uint8Array(2 ** 22);
      for (let at = 0; at < value.length; at++) value[at] = (at * (i + 7)) >> 5;
      return value;
    });
    await store.write(
      epoch,
      values.map((value, key) => ({ jobId: 'a', kind: 'plan', key, value })),
    );
    let key = 0;
    for await (const { value } of store.entries()) assert.ok(Buffer.from(values[key++]!).equals(value));
    assert.equal(key, 5);
  });

  check('a store that is closed says so', async (open) => {
    const store = await open();
    const epoch = await lead(store);
    const written = store.write(epoch, [put('a', 'job', 0, 'x')]);
    await store.close();
    await written;
    await store.close();
    if (name !== 'MemoryStore') await assert.rejects(store.write(epoch, []), /is closed/);
  });
}

/** Bytes outside of the heap that something still refers to. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  // What the first one found is given back on another thread, which the second one waits for.
  collect();
  return process.memoryUsage().arrayBuffers;
}

async function lead(store: LedgerStore): Promise<number> {
  const epoch = await store.acquire('test', longMs);
  assert.ok(epoch !== undefined);
  return epoch;
}

const put = (jobId: string, kind: string, key: number, text: string) => ({
  jobId,
  kind,
  key,
  value: Buffer.from(text),
});

/** Entries with their values as plain bytes, whatever class of them a store gives. */
async function all(store: LedgerStore, of?: EntryFilter): Promise<Entry[]> {
  const found: Entry[] = [];
  for await (const entry of store.entries(of)) found.push({ ...entry, value: Uint8Array.from(entry.value) });
  return found;
}

const texts = async (store: LedgerStore, of?: EntryFilter) =>
  (await all(store, of)).map(({ jobId, kind, key, value }) => [jobId, kind, key, Buffer.from(value).toString()]);

function applyToModel(model: Map<string, Entry>, changes: readonly Change[]): void {
  for (const change of changes) {
    if (change.kind === undefined) {
      for (const [place, { jobId }] of model) if (jobId === change.jobId) model.delete(place);
    } else {
      const { jobId, kind, key, value } = change;
      model.delete(`${jobId} ${kind} ${key}`);
      if (value) model.set(`${jobId} ${kind} ${key}`, { jobId, kind, key, value });
    }
  }
}

/** Places are ordered byte by byte, as their text is with a character below all others between its parts. */
function modelEntries(model: Map<string, Entry>, { jobId, kind }: EntryFilter): Entry[] {
  return [...model]
    .filter(([, entry]) => (jobId ?? entry.jobId) === entry.jobId && (kind ?? entry.kind) === entry.kind)
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([, entry]) => entry);
}
