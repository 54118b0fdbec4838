import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeptToken } from './kept-token.ts';

// A clock of numbers: no waits.

test('a token is asked for once until shortly before it ends, and for other settings', async () => {
  let now = 0;
  let asked = 0;
  const kept = new KeptToken(() => now);
  const find = async () => ({ text: `${++asked}`, seconds: 3600 });
  assert.deepEqual(await Promise.all([kept.get('a', find), kept.get('a', find)]), ['1', '1']);
  now = 3_359_999;
  assert.equal(await kept.get('a', find), '1');
  now = 3_360_000;
  assert.equal(await kept.get('a', find), '2');
  assert.equal(await kept.get('b', find), '3');
});

test('that there is none counts for five minutes, and a failure not at all', async () => {
  let now = 0;
  let asked = 0;
  const kept = new KeptToken(() => now);
  const none = async () => {
    asked++;
    return undefined;
  };
  const fail = async () => {
    throw new Error('away');
  };
  await assert.rejects(kept.get('a', fail), /away/);
  assert.equal(await kept.get('a', none), undefined);
  now = 299_999;
  assert.equal(await kept.get('a', none), undefined);
  assert.equal(asked, 1);
  now = 300_000;
  assert.equal(await kept.get('a', none), undefined);
  assert.equal(asked, 2);
});
