import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { forEachLimited } from './for-each-limited.ts';

test('each item is processed once, in order, and no more than the limit at once', async () => {
  const property = fc.asyncProperty(fc.integer({ min: 1, max: 5 }), fc.array(fc.nat(3)), async (limit, turns) => {
    const begun: number[] = [];
    let underWay = 0;
    await forEachLimited(turns.entries(), limit, async ([i, turn]) => {
      begun.push(i);
      assert.ok(++underWay <= limit);
      for (let k = 0; k < turn; k++) await setImmediate();
      underWay--;
    });
    assert.deepEqual(begun, [...turns.keys()]);
    assert.equal(underWay, 0);
  });
  await fc.assert(property, { numRuns: 50 });
});

test('after a failure work under way is awaited, and no more is begun', async () => {
  const begun: number[] = [];
  let isOver = false;
  const all = forEachLimited([0, 1, 2, 3, 4], 2, async (i) => {
    begun.push(i);
    await setImmediate();
    if (i === 0) throw new Error('the first');
    await setImmediate();
    isOver = true;
    throw new Error('another');
  });
  await assert.rejects(all, { message: 'the first' });
  assert.deepEqual([begun, isOver], [[0, 1], true]);
});

test('a failure while items are listed counts like one of the work', async () => {
  function* items(): Generator<number> {
    yield 1;
    throw new Error('no more can be listed');
  }
  await assert.rejects(
    forEachLimited(items(), 3, async () => {}),
    { message: 'no more can be listed' },
  );
});
