import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { pollDawnCalmly } from './runtime.ts';

test('what Dawn asks of setImmediate waits a millisecond, and what others ask comes at once', async (t) => {
  const { setImmediate: before } = globalThis;
  t.after(() => {
    globalThis.setImmediate = before;
  });
  pollDawnCalmly();
  const order: string[] = [];
  // What follows on a file that was read comes before any timer.
  await readFile(import.meta.filename);
  setImmediate(order.push.bind(order, 'native'));
  setImmediate((word: string) => void order.push(word), 'ours');
  await delay(20);
  assert.deepEqual(order, ['ours', 'native']);
});

test('a promise of setImmediate is one of the same', async (t) => {
  const { setImmediate: before } = globalThis;
  t.after(() => {
    globalThis.setImmediate = before;
  });
  pollDawnCalmly();
  assert.equal(await promisify(setImmediate)('said'), 'said');
});
