import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { startAhead } from './start-ahead.ts';

const nothing = async () => {};

test('results come in order however long each takes', async () => {
  const start = async (n: number) => {
    for (let i = 0; i < 5 - n; i++) await turn();
    return n;
  };
  assert.deepEqual(await Array.fromAsync(startAhead([1, 2, 3, 4, 5], 3, start, nothing)), [1, 2, 3, 4, 5]);
});

test('no more are started than wanted ahead', async () => {
  let started = 0;
  const results = startAhead(
    [1, 2, 3, 4, 5],
    2,
    async (n) => {
      started++;
      return n;
    },
    nothing,
  );
  await results.next();
  assert.equal(started, 2);
  await results.next();
  assert.equal(started, 3);
});

test('what was started and is not taken is discarded', async () => {
  const discarded: number[] = [];
  const results = startAhead(
    [1, 2, 3, 4, 5],
    3,
    async (n) => n,
    async (n) => void discarded.push(n),
  );
  await results.next();
  await results.return();
  assert.deepEqual(discarded, [2, 3]);
});
