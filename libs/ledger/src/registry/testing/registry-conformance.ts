import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually, pause, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { FencedError, type JobChange, type RegisteredJob, type Registry } from '../registry.ts';

/** Opens one more registry on the same database. */
export type OpenSame = () => Promise<Registry>;

/** Far longer than any test. */
const longMs = 600_000;

/**
 * Tests that a registry does what `Registry` promises. `makeDatabase` makes an empty database that is removed when the
 * test ends.
 */
export function registryConformance(
  name: string,
  makeDatabase: (t: TestContext) => Promise<OpenSame>,
  options: { skip?: string | false; hasShares?: boolean } = {},
): void {
  const { hasShares = false, ...testOptions } = options;
  /** A check only for registries with one leader at a time. */
  const checkAlone = (what: string, act: (open: OpenSame) => Promise<void>) => hasShares || check(what, act);
  const check = (what: string, act: (open: OpenSame) => Promise<void>) =>
    test(`${name}: ${what}`, testOptions, async (t) => {
      const open = await makeDatabase(t);
      const opened: Registry[] = [];
      try {
        await act(async () => {
          const registry = await open();
          opened.push(registry);
          return registry;
        });
      } finally {
        for (const registry of opened) await registry.close();
      }
    });

  check('everything written is there, in order, also for a registry that is opened later', async (open) => {
    const registry = await open();
    const epoch = await lead(registry);
    const marks = [
      { epoch: 2 ** 52, bytes: 2 ** 53 - 1 },
      { epoch: 2 ** 52 + 1, bytes: 0 },
    ];
    await registry.write(epoch, [
      begin('b', 'running'),
      begin('a-1', ''),
      { ...begin('a', 'waits'), marks },
      begin('A', 'ä ‘ \\ "'),
      begin('over', 'running'),
      { kind: 'end', jobId: 'over', status: 'complete' },
    ]);
    const led = { leader: epoch, epoch };
    const expected = [
      { jobId: 'A', spec: 'spec of A', status: 'ä ‘ \\ "', marks: [], ...led },
      { jobId: 'a', spec: 'spec of a', status: 'waits', marks, ...led },
      { jobId: 'a-1', spec: 'spec of a-1', status: '', marks: [], ...led },
      { jobId: 'b', spec: 'spec of b', status: 'running', marks: [], ...led },
      { jobId: 'over', spec: 'spec of over', status: 'complete', marks: [], leader: undefined, epoch },
    ];
    assert.deepEqual(await all(registry), expected);
    await registry.close();
    const later = await open();
    assert.deepEqual(await all(later), expected);
    assert.deepEqual(await all(later, ['b', 'c', 'A']), [expected[0], expected[3]]);
    assert.deepEqual(await all(later, ['c']), []);
    assert.deepEqual(await all(later, []), []);
  });

  check('after any changes, the registry holds the same as a map', async (open) => {
    const registry = await open();
    const epoch = await lead(registry);
    const jobId = fc.constantFrom('a', 'aa', 'B', 'a-1', 'a_1');
    const status = fc.string({ maxLength: 5 }).map((text) => JSON.stringify(text));
    const mark = fc.tuple(fc.nat(9), fc.nat()).map(([epoch, bytes]) => ({ epoch, bytes }));
    const marks = fc.array(mark, { maxLength: 2 });
    const change: fc.Arbitrary<JobChange> = fc.oneof(
      fc.record({ kind: fc.constant('begin' as const), jobId, spec: status, status, marks }),
      fc.record({ kind: fc.constant('note' as const), jobId, status, marks }),
      fc.record({ kind: fc.constant('end' as const), jobId, status }),
      fc.record({ kind: fc.constant('remove' as const), jobId }),
    );
    let model: Model = new Map();
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 6 }), async (changes) => {
        const next = afterChanges(model, changes, epoch);
        if (next) await registry.write(epoch, changes);
        else await assert.rejects(registry.write(epoch, changes), FencedError);
        model = next ?? model;
        const expected = [...model.values()].sort((a, b) => (a.jobId < b.jobId ? -1 : 1));
        assert.deepEqual(await all(registry), expected);
        const some = ['a', 'aa'];
        assert.deepEqual(
          await all(registry, some),
          expected.filter(({ jobId }) => some.includes(jobId)),
        );
      }),
      { numRuns: repeated(20, 200) },
    );
  });

  check('a history is kept with its job, by the leader or for a job that has ended', async (open) => {
    const registry = await open();
    const epoch = await lead(registry);
    await registry.write(epoch, [begin('a', 'running'), begin('b', 'running'), begin('c', 'running')]);
    const write = (by: number, ...ids: string[]) =>
      registry.writeHistories(by, new Map(ids.map((id) => [id, `${id} by ${by}`])));
    await write(epoch, 'a', 'b', 'unknown');
    await write(epoch + 1, 'a', 'c');
    await registry.write(epoch, [
      { kind: 'end', jobId: 'a', status: 'complete' },
      { kind: 'remove', jobId: 'b' },
    ]);
    const histories = () => Promise.all(['a', 'b', 'c', 'unknown'].map((id) => registry.history(id)));
    assert.deepEqual(await histories(), [`a by ${epoch}`, undefined, undefined, undefined]);
    await write(epoch, 'a', 'b', 'c');
    await write(epoch, 'a');
    const later = await open();
    assert.equal(await later.history('a'), `a by ${epoch}`);
    await registry.write(epoch, [begin('b', 'again')]);
    assert.deepEqual(await histories(), [`a by ${epoch}`, undefined, `c by ${epoch}`, undefined]);
  });

  check('the caller may change its values once write has returned', async (open) => {
    const registry = await open();
    const epoch = await lead(registry);
    const change = { ...begin('a', 'before'), marks: [{ epoch, bytes: 1 }] };
    const changes = [change];
    const written = registry.write(epoch, changes);
    change.marks.push({ epoch: epoch + 1, bytes: 2 });
    change.status = 'after';
    changes.pop();
    await written;
    const [job] = await all(registry);
    assert.deepEqual([job!.status, job!.marks], ['before', [{ epoch, bytes: 1 }]]);
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
    const registries = await Promise.all([open(), open(), open(), open()]);
    const epochs = await Promise.all(registries.map((registry, i) => registry.acquire(`registry ${i}`, longMs)));
    assert.equal(epochs.filter((epoch) => epoch !== undefined).length, 1);
  });

  checkAlone('a lease that is not renewed ends, and its holder may go on until another leads', async (open) => {
    const [first, second] = [await open(), await open()];
    const epoch = (await first.acquire('first', 50))!;
    await eventually('the end of the lease', async () => !(await second.leader()));
    await first.write(epoch, [begin('a', 'late')]);
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
    await first.write(epoch, [begin('a', 'kept')]);
    await first.release(epoch);
    const changes: JobChange[] = [note('a', 'changed'), begin('b', 'new'), { kind: 'remove', jobId: 'a' }];
    await assert.rejects(first.write(epoch, changes), FencedError);
    const next = (await second.acquire('second', longMs))!;
    await assert.rejects(first.write(epoch, changes), {
      name: 'FencedError',
      message: `Another coordinator leads now (epoch ${next}, second); this one had epoch ${epoch}`,
    });
    await assert.rejects(second.write(next + 1, changes), FencedError);
    assert.deepEqual(await statuses(second), { a: 'kept' });
    await second.write(next, [note('a', 'changed')]);
    assert.deepEqual(await statuses(first), { a: 'changed' });
    const [job] = await all(first);
    assert.deepEqual([job!.leader, job!.epoch], [next, next]);
  });

  checkAlone('while leaders change, nothing of an older one replaces what a newer one wrote', async (open) => {
    const registries = await Promise.all([open(), open(), open()]);
    const epochs = new Set<number>();
    const compete = async (registry: Registry): Promise<void> => {
      const seen: Record<string, number> = {};
      while (epochs.size < 12) {
        await pause(2);
        const epoch = await registry.acquire('one of three', 1);
        if (epoch === undefined) continue;
        assert.ok(!epochs.has(epoch), `epoch ${epoch} was given twice`);
        epochs.add(epoch);
        for (let round = 0; round < 3; round++) {
          const jobId = `job-${round}`;
          await registry.write(epoch, [begin(jobId, String(epoch))]).catch((error) => {
            assert.ok(error instanceof FencedError, String(error));
          });
          for (const [at, text] of Object.entries(await statuses(registry))) {
            assert.ok(Number(text) >= (seen[at] ?? 0), `${text} replaced ${seen[at]}`);
            seen[at] = Number(text);
          }
        }
      }
    };
    await Promise.all(registries.map(compete));
  });

  check('jobs are read a page at a time, however many there are', async (open) => {
    const registry = await open();
    const epoch = await lead(registry);
    const count = 3000;
    const status = 'x'.repeat(8000);
    for (let first = 0; first < count; first += 500) {
      const some = Array.from({ length: 500 }, (_, i) => begin(String(first + i).padStart(4, '0'), status));
      await registry.write(epoch, some);
    }
    // A registry in memory holds all jobs anyway. Measuring takes about a second each time beside other tests in one
    // process.
    const isOutside = !name.includes('Memory');
    const before = isOutside ? heldBytes() : 0;
    let held = 0;
    let expected = 0;
    for await (const { jobId } of registry.jobs()) {
      assert.equal(Number(jobId), expected++);
      if (isOutside && expected === 2250) held = heldBytes() - before;
    }
    assert.equal(expected, count);
    // By then 18 of 24 MB have been read, in pages of 1 MB.
    assert.ok(held < 5e6, `${held} bytes were held`);
  });

  check('a value of 4 MB, and many of them in one transaction', async (open) => {
    const registry = await open();
    const epoch = await lead(registry);
    const specs = Array.from({ length: 5 }, (_, i) => String(i).repeat(2 ** 22));
    await registry.write(
      epoch,
      specs.map((spec, i) => ({ ...begin(`job-${i}`, 'x'), spec })),
    );
    let next = 0;
    for await (const { spec } of registry.jobs()) assert.ok(specs[next++] === spec);
    assert.equal(next, 5);
  });

  check('a registry that is closed says so', async (open) => {
    const registry = await open();
    const epoch = await lead(registry);
    const written = registry.write(epoch, [begin('a', 'x')]);
    await registry.close();
    await written;
    await registry.close();
    if (!name.includes('Memory')) await assert.rejects(registry.write(epoch, []), /is closed/);
  });
}

/** Bytes of memory that are still in use after a garbage collection. */
function heldBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  collect();
  // Another thread frees what the first collection found, and the second one waits for it.
  collect();
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return arrayBuffers + heapUsed;
}

async function lead(registry: Registry): Promise<number> {
  const epoch = await registry.acquire('test', longMs);
  assert.ok(epoch !== undefined);
  return epoch;
}

export const begin = (jobId: string, status: string) => {
  return { kind: 'begin' as const, jobId, spec: `spec of ${jobId}`, status, marks: [] };
};

export const note = (jobId: string, status: string) => ({ kind: 'note' as const, jobId, status, marks: [] });

const all = (registry: Registry, ids?: readonly string[]): Promise<RegisteredJob[]> =>
  Array.fromAsync(registry.jobs(ids));

export const statuses = async (registry: Registry): Promise<Record<string, string>> =>
  Object.fromEntries((await all(registry)).map(({ jobId, status }) => [jobId, status]));

type Model = ReadonlyMap<string, RegisteredJob>;

/** The model after the changes. If a job has several, the last one counts. Undefined if a change cannot be made. */
function afterChanges(before: Model, changes: readonly JobChange[], epoch: number): Model | undefined {
  const model = new Map(before);
  for (const jobId of new Set(changes.map((change) => change.jobId))) {
    const its = changes.filter((change) => change.jobId === jobId);
    const last = its.at(-1)!;
    const begun = its.findLast(({ kind }) => kind === 'begin') as { spec: string } | undefined;
    const job = before.get(jobId);
    const hasEnded = last.kind === 'end';
    if (last.kind === 'remove') model.delete(jobId);
    else if (job ? job.leader === undefined && !hasEnded : !begun) return undefined;
    else {
      const marks = last.kind === 'end' ? [] : last.marks;
      const { spec } = job ?? begun!;
      model.set(jobId, { jobId, spec, status: last.status, marks, leader: hasEnded ? undefined : epoch, epoch });
    }
  }
  return model;
}
