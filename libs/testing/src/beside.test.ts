import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beside } from './beside.ts';

/** Keeps this thread busy for `steps` steps. */
function compute(steps: number): number {
  let sum = 0;
  for (let i = 0; i < steps; i++) sum = Math.imul(sum ^ i, 0x9e3779b1);
  return sum;
}

test('a hundred times as much work takes longer than its control', async () => {
  const { ms, controlMs } = await beside(
    () => compute(2e8),
    () => compute(2e6),
  );
  assert.ok(ms > controlMs, `${ms} ms, and ${controlMs} ms`);
});

test('the slower of both controls counts', async () => {
  const order: string[] = [];
  await beside(
    () => order.push('act'),
    () => order.push('control'),
  );
  assert.deepEqual(order, ['control', 'act', 'control']);
});
