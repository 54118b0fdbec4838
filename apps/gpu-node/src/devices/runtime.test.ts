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
  pollDawnCalmly(0);
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
  pollDawnCalmly(0);
  assert.equal(await promisify(setImmediate)('said'), 'said');
});

test('what has just begun is looked at in every turn, and what takes longer once a millisecond', async (t) => {
  const { setImmediate: before } = globalThis;
  t.after(() => {
    globalThis.setImmediate = before;
  });
  let nowMs = 0;
  pollDawnCalmly(2, () => nowMs);
  const { setImmediate: calmly } = globalThis;
  const turns: string[] = [];
  // As Dawn: a look asks for the next one.
  const looks = function (this: undefined) {
    turns.push(`look at ${nowMs}`);
    if (++nowMs < 4) calmly(looks.bind(undefined));
    else done.resolve();
    before(() => turns.push('turn'));
  };
  const done = Promise.withResolvers<void>();
  await readFile(import.meta.filename);
  calmly(looks.bind(undefined));
  await done.promise;
  assert.deepEqual(turns, ['look at 0', 'look at 1', 'turn', 'turn', 'look at 2', 'turn', 'look at 3']);
});
