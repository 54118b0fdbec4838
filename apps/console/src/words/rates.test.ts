import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Rates } from './rates.js';

const take = (rates: Rates, ms: number, count: number) => rates.take(ms, new Map([['job', count]]));

test('the speed is the mean over the last ten seconds', () => {
  const rates = new Rates();
  // 100 per second for a minute, then 10 per second.
  for (let second = 0; second <= 60; second++) take(rates, second * 1000, second * 100);
  assert.equal(rates.of('job'), 100);
  for (let second = 61; second <= 71; second++) take(rates, second * 1000, 6000 + (second - 60) * 10);
  assert.equal(rates.of('job'), 10);
});

test('a counter that was seen once, never, or is gone has no speed', () => {
  const rates = new Rates();
  take(rates, 0, 5);
  assert.deepEqual([rates.of('job'), rates.of('other')], [0, 0]);
  take(rates, 1000, 9);
  rates.take(2000, new Map());
  assert.equal(rates.of('job'), 0);
});

test('a steady speed is exact, however often it is read', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1e6 }),
      fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 50 }),
      (perMs, steps) => {
        const rates = new Rates();
        let ms = 0;
        take(rates, ms, 0);
        for (const step of steps) {
          ms += step;
          take(rates, ms, ms * perMs);
        }
        assert.equal(rates.of('job'), perMs * 1000);
      },
    ),
  );
});
