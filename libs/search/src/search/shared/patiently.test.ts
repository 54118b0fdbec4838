import assert from 'node:assert/strict';
import { test } from 'node:test';
import { patiently } from './patiently.ts';

const never = (): Promise<string> => new Promise(() => {});
const failing = (): Promise<string> => Promise.reject(new Error('It cannot'));

/** The answer, the notes, and whether the other search was told to stop. */
async function play(first: Promise<string>, other: () => Promise<string>, patienceMs: number) {
  const notes: string[] = [];
  let signal: AbortSignal | undefined;
  const answer = patiently(first, {
    patienceMs,
    other: (given) => {
      signal = given;
      return other();
    },
    note: (why) => notes.push(why),
  });
  return { answer: await answer.catch(({ message }: Error) => message), notes, isStopped: signal?.aborted };
}

test('the first answer is taken if it comes in time; if it fails or is late, the earliest answer is', async () => {
  const good = async (): Promise<string> => 'other';
  assert.deepEqual(await play(Promise.resolve('first'), assert.fail, 60_000), {
    answer: 'first',
    notes: [],
    isStopped: undefined,
  });
  assert.deepEqual(await play(failing(), good, 60_000), { answer: 'other', notes: ['It cannot'], isStopped: true });
  assert.deepEqual(await play(failing(), failing, 60_000), {
    answer: 'It cannot',
    notes: ['It cannot'],
    isStopped: false,
  });
  const late = 'It has not answered in time';
  assert.deepEqual(await play(never(), good, 0), { answer: 'other', notes: [late], isStopped: true });
  assert.deepEqual(await play(never(), failing, 0), { answer: 'It cannot', notes: [late], isStopped: false });
  const first = Promise.withResolvers<string>();
  const after = play(
    first.promise,
    () => {
      first.resolve('first');
      return never();
    },
    0,
  );
  assert.deepEqual(await after, { answer: 'first', notes: [late], isStopped: true });
});
