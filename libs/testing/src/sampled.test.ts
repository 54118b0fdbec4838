import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isThorough } from './how-often.ts';
import { sampled } from './sampled.ts';

const cases = Array.from({ length: 20 }, (_, i) => i);

test('a sample has as many cases as are asked for, in their order, and no case is left out for ever', () => {
  const seen = new Set<number>();
  for (let times = 0; times < 1000; times++) {
    const some = sampled(cases, 5);
    assert.equal(some.length, isThorough ? cases.length : 5);
    assert.deepEqual(
      some,
      some.toSorted((a, b) => a - b),
    );
    for (const one of some) seen.add(one);
  }
  assert.equal(seen.size, cases.length);
  assert.deepEqual(sampled(cases, 100), cases);
});
