import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { eventually } from '@halogrid/testing';
import { batchBegun, batchEnded, pollDawnCalmly } from './runtime.ts';

test('setImmediate waits a millisecond when Dawn calls it, and not when others do', async (t) => {
  const { setImmediate: before } = globalThis;
  t.after(() => {
    globalThis.setImmediate = before;
  });
  pollDawnCalmly(0);
  const order: string[] = [];
  // After a file was read, immediates run before timers.
  await readFile(import.meta.filename);
  setImmediate(order.push.bind(order, 'native'));
  setImmediate((word: string) => void order.push(word), 'ours');
  await eventually('both calls', () => order.length === 2);
  assert.deepEqual(order, ['ours', 'native']);
});

test('the promise form of setImmediate works as before', async (t) => {
  const { setImmediate: before } = globalThis;
  t.after(() => {
    globalThis.setImmediate = before;
  });
  pollDawnCalmly(0);
  assert.equal(await promisify(setImmediate)('said'), 'said');
});

test('Dawn looks in every turn at first, and once a millisecond if the work takes longer or several batches run', async (t) => {
  const { setImmediate: before } = globalThis;
  t.after(() => {
    globalThis.setImmediate = before;
  });
  let nowMs = 0;
  const atOnce: number[] = [];
  const noted = (...call: Parameters<typeof before>) => {
    atOnce.push(nowMs);
    return before(...call);
  };
  globalThis.setImmediate = noted as typeof before;
  pollDawnCalmly(2, () => nowMs);
  const { setImmediate: calmly } = globalThis;
  /** Like Dawn: each look asks for the next one while something is awaited. */
  const look = (looks: number): Promise<void> => {
    const done = Promise.withResolvers<void>();
    const one = (left: number) => {
      nowMs++;
      if (left > 0) calmly(one.bind(undefined, left - 1));
      else done.resolve();
    };
    calmly(one.bind(undefined, looks - 1));
    return done.promise;
  };
  await look(4);
  assert.deepEqual(atOnce, [0, 1]);
  await look(1);
  assert.deepEqual(atOnce, [0, 1, 4]);
  for (let i = 0; i < 2; i++) batchBegun();
  await look(2);
  for (let i = 0; i < 2; i++) batchEnded();
  assert.deepEqual(atOnce, [0, 1, 4]);
});
