import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TimeBuckets } from './time-buckets.ts';

test('an amount is spread over the time in which it came', () => {
  const buckets = new TimeBuckets(1_000);
  buckets.add(500, 2_500, 20);
  buckets.add(3_000, 3_000, 7);
  assert.deepEqual(buckets.sums(3_500), [5, 10, 5, 7]);
  assert.deepEqual(buckets.sums(3_500, 2_000), [15, 12]);
});

test('nothing is lost as buckets grow, and they are never too many', () => {
  const time = fc.integer({ min: 0, max: 10 ** 9 });
  const given = fc.array(fc.record({ at: time, lasting: fc.integer({ min: 0, max: 10 ** 7 }), amount: fc.nat(1000) }));
  fc.assert(
    fc.property(given, (amounts) => {
      const buckets = new TimeBuckets();
      for (const { at, lasting, amount } of amounts) buckets.add(at, at + lasting, amount);
      const end = Math.max(0, ...amounts.map(({ at, lasting }) => at + lasting));
      const sums = buckets.sums(end, buckets.widthAt(end));
      assert.ok(sums.length <= 240);
      const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
      const all = sum(amounts.map(({ amount }) => amount));
      assert.ok(Math.abs(sum(sums) - all) < 1e-6 * (1 + all), `${sum(sums)} instead of ${all}`);
    }),
  );
});
