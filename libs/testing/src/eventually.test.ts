import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from './eventually.ts';

test('it asks until there is an answer', async () => {
  const answers = [undefined, false, 0];
  assert.equal(await eventually('a number', () => answers.shift() as number | undefined | false), 0);
});

test('an error ends the wait, unless it counts as "not yet"', async () => {
  let asked = 0;
  const ask = (): string => {
    if (++asked < 3) throw new Error('refused');
    return 'served';
  };
  await assert.rejects(async () => eventually('it to serve', ask), /^Error: refused$/);
  assert.equal(await eventually('it to serve', ask, { despiteErrors: true }), 'served');
  assert.equal(asked, 3);
});

test('it says what it waited for, and the last error', async () => {
  const options = { limitMs: 200, despiteErrors: true };
  await assert.rejects(
    eventually('a coordinator', () => undefined, options),
    /^Error: Waited \d+ ms for a coordinator$/,
  );
  const refuse = (): never => assert.fail('refused');
  await assert.rejects(
    eventually('a coordinator', refuse, options),
    /^Error: Waited \d+ ms for a coordinator: refused$/,
  );
});

test('a question that never settles also ends at the limit', async () => {
  await assert.rejects(
    eventually('an answer', () => new Promise(() => {}), { limitMs: 200 }),
    /for an answer/,
  );
});
