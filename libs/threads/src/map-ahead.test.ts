import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { within } from '@halogrid/testing';
import { mapAhead } from './map-ahead.ts';

test('results come in order even if later ones are ready earlier', async () => {
  const gates = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  const results = collect(mapAhead([0, 1, 2, 3], 4, (i) => gates[i]!.promise.then(() => i * 10)));
  for (const i of [3, 1, 0, 2]) {
    gates[i]!.resolve();
    await gates[i]!.promise;
  }
  assert.deepEqual(await results, [0, 10, 20, 30]);
});

test('no more than the limit is under way', async () => {
  let underWay = 0;
  let most = 0;
  const act = async (i: number): Promise<number> => {
    most = Math.max(most, ++underWay);
    await new Promise(setImmediate);
    underWay--;
    return i;
  };
  const items = [...Array(20).keys()];
  assert.deepEqual(await collect(mapAhead(items, 3, act)), items);
  assert.equal(most, 3);
});

test('finished results do not wait for a slow next item', async () => {
  const third = Promise.withResolvers<void>();
  const items = async function* (): AsyncGenerator<number> {
    yield* [0, 1];
    await third.promise;
    yield 2;
  };
  const results = mapAhead(items(), 9, async (i) => 10 * i);
  assert.deepEqual(
    [await results.next(), await results.next()].map(({ value }) => value),
    [0, 10],
  );
  third.resolve();
  assert.deepEqual(await collect(results), [20]);
});

test('a failure is thrown in its turn', async () => {
  const seen: number[] = [];
  const act = async (i: number): Promise<number> => {
    if (i === 2) throw new Error('the third');
    return i;
  };
  await assert.rejects(async () => {
    for await (const i of mapAhead([0, 1, 2, 3], 4, act)) seen.push(i);
  }, /the third/);
  assert.deepEqual(seen, [0, 1]);
});

test('an abort ends it at once, even while an item or an action never comes', async () => {
  const never = new Promise<never>(() => {});
  const endless = async function* (): AsyncGenerator<number> {
    yield await never;
  };
  for (const [items, act] of [
    [endless(), async (i: number) => i],
    [[1], () => never],
  ] as const) {
    const controller = new AbortController();
    const results = collect(mapAhead(items, 2, act, { signal: controller.signal }));
    controller.abort(new Error('cancelled'));
    await assert.rejects(within('the abort', results), /cancelled/);
  }
  await assert.rejects(
    collect(mapAhead([1], 2, async (i) => i, { signal: AbortSignal.abort(new Error('before')) })),
    /before/,
  );
});

test('a consumer that stops closes the items', async () => {
  let closed = false;
  const items = async function* (): AsyncGenerator<number> {
    try {
      for (let i = 0; ; i++) yield i;
    } finally {
      closed = true;
    }
  };
  for await (const _ of mapAhead(items(), 2, async (i) => i)) break;
  await new Promise(setImmediate);
  assert.ok(closed);
});

test('results under way that are not taken are discarded', async () => {
  const discarded: number[] = [];
  const discard = async (n: number) => void discarded.push(n);
  const results = mapAhead([1, 2, 3, 4, 5], 3, async (n) => n, { discard });
  await results.next();
  await results.return();
  assert.deepEqual(discarded, [2, 3]);
});

test('no more actions than `ahead` are begun before they are needed', async () => {
  let begun = 0;
  const results = mapAhead([1, 2, 3, 4, 5], 2, async () => void begun++);
  await results.next();
  assert.equal(begun, 2);
  await results.next();
  assert.equal(begun, 3);
});

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

test('its listener is removed from the signal, whether it ran to its end or was left early', async () => {
  const { signal } = new AbortController();
  await collect(mapAhead([0, 1, 2], 2, async (i) => i, { signal }));
  for await (const _ of mapAhead([0, 1, 2], 2, async (i) => i, { signal })) break;
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
});

test('a taken item leaves nothing in memory, with a signal that never aborts', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const heldBytes = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = heldBytes();
  let taken = 0;
  const { signal } = new AbortController();
  for await (const _ of mapAhead(Array(100_000).fill(0), 8, async (item) => item, { signal })) {
    if (++taken < 100_000) continue;
    assert.ok(heldBytes() - before < 10e6, `${heldBytes() - before} bytes are held`);
  }
  assert.equal(taken, 100_000);
});

test('a result without a wait is yielded before anything else is begun', async () => {
  let begun = 0;
  const results = mapAhead([1, 2, 3, 4], 3, (n) => {
    begun++;
    return n < 3 ? n : Promise.resolve(n);
  });
  assert.deepEqual([(await results.next()).value, begun], [1, 1]);
  assert.deepEqual([(await results.next()).value, begun], [2, 2]);
  assert.deepEqual(await collect(results), [3, 4]);
});
