import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settleAll, twoAtOnce } from './settle-all.ts';

test('a failure rejects once everything has settled', async () => {
  const slow = Promise.withResolvers<number>();
  const said: string[] = [];
  const all = settleAll([Promise.reject(new Error('broken')), slow.promise]).catch((error) => said.push(error.message));
  await new Promise(setImmediate);
  assert.deepEqual(said, []);
  slow.resolve(1);
  await all;
  assert.deepEqual(said, ['broken']);
  assert.deepEqual(await settleAll([Promise.resolve(1), Promise.resolve(2)]), [1, 2]);
});

test('two pieces run at once, and a failure ends the work when both have settled', async () => {
  const pieces = [0, 1, 2].map(() => Promise.withResolvers<void>());
  const said: string[] = [];
  const all = twoAtOnce(async (handOver) => {
    for (const [i, { promise }] of pieces.entries()) {
      await handOver(promise);
      said.push(`handed over ${i}`);
    }
  }).catch((error) => said.push(error.message));
  await new Promise(setImmediate);
  assert.deepEqual(said, ['handed over 0']);
  pieces[0]!.resolve();
  await new Promise(setImmediate);
  assert.deepEqual(said, ['handed over 0', 'handed over 1']);
  pieces[1]!.reject(new Error('broken'));
  await new Promise(setImmediate);
  assert.deepEqual(said, ['handed over 0', 'handed over 1']);
  pieces[2]!.resolve();
  await all;
  assert.deepEqual(said, ['handed over 0', 'handed over 1', 'broken']);
});
