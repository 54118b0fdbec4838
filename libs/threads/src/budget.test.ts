import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Budget } from './budget.ts';

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => {
    settled = true;
  });
  await turn();
  return settled;
}

test('callers beyond the limit wait until some is released', async () => {
  const budget = new Budget(100);
  await budget.acquire(60);
  const second = budget.acquire(50);
  assert.equal(await isSettled(second), false);
  budget.release(60);
  assert.equal(await isSettled(second), true);
  assert.equal(budget.used, 50);
});

test('callers are served in order, even if a later one would fit', async () => {
  const budget = new Budget(100);
  await budget.acquire(60);
  const large = budget.acquire(80);
  const small = budget.acquire(10);
  assert.equal(await isSettled(small), false);
  budget.release(60);
  assert.deepEqual([await isSettled(large), await isSettled(small)], [true, true]);
});

test('more than the limit is given out alone', async () => {
  const budget = new Budget(100);
  await budget.acquire(1);
  const huge = budget.acquire(1000);
  assert.equal(await isSettled(huge), false);
  budget.release(1);
  assert.equal(await isSettled(huge), true);
  const next = budget.acquire(1);
  assert.equal(await isSettled(next), false);
  budget.release(1000);
  assert.equal(await isSettled(next), true);
});

test('reclaim is called for the missing amount before a caller waits', async () => {
  const kept = [30, 30];
  const budget: Budget = new Budget(100, () => {
    while (kept.length > 0) budget.release(kept.pop()!);
  });
  await budget.acquire(30);
  await budget.acquire(30);
  assert.equal(await isSettled(budget.acquire(90)), true);
  assert.deepEqual(kept, []);
});
