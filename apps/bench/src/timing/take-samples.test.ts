import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeSamples, warmUps } from './take-samples.ts';

/** Milliseconds of a sample. */
const slow = (isWarmUp: boolean) => (isWarmUp ? 1000 : 10);

for (const [withinMs, expected] of [
  [undefined, 5],
  [1000, 5],
  // The third begins after 20 ms, and none after 30.
  [25, 3],
  // There is always one.
  [0, 1],
] as const) {
  test(`of 5 samples of 10 ms, ${withinMs ?? 'no'} ms hold ${expected}, whatever the warm-ups took`, async () => {
    const asked: boolean[] = [];
    const samples = await timeSamples({ repetitions: 5, withinMs }, (isWarmUp) => {
      asked.push(isWarmUp);
      return slow(isWarmUp);
    });
    assert.deepEqual(
      samples,
      Array.from({ length: expected }, () => 10),
    );
    assert.equal(asked.filter((isWarmUp) => isWarmUp).length, warmUps);
  });
}

test('warm-ups go on until they have taken their time', async () => {
  const asked: boolean[] = [];
  const sample = (isWarmUp: boolean) => {
    asked.push(isWarmUp);
    return 10;
  };
  await timeSamples({ repetitions: 1, warmUpMs: 45 }, sample);
  assert.deepEqual(asked, [true, true, true, true, true, false]);
});

test('a sample that fails ends it', async () => {
  await assert.rejects(
    timeSamples({ repetitions: 2 }, () => Promise.reject(new Error('lost'))),
    /lost/,
  );
});
