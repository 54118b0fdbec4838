import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { StageDurations } from './stage-durations.ts';

test('quantiles are off by a tenth at most', () => {
  const seconds = fc.array(fc.double({ min: 1e-4, max: 1e4, noNaN: true }), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(seconds, fc.constantFrom(0.5, 0.95), (times, share) => {
      const durations = new StageDurations();
      for (const time of times) durations.add(time);
      const sorted = times.toSorted((a, b) => a - b);
      // The definition of a quantile by nearest rank.
      const exact = sorted[Math.max(1, Math.ceil(times.length * share)) - 1]!;
      const { p50, p95, max } = durations.summary();
      const told = share === 0.5 ? p50 : p95;
      assert.ok(told > exact * 0.9 && told < exact * 1.1, `${told} instead of ${exact}`);
      assert.equal(max, sorted.at(-1));
    }),
  );
});

test('a value that is not a duration is ignored', () => {
  const durations = new StageDurations();
  for (const time of [Number.NaN, Number.POSITIVE_INFINITY, -1]) durations.add(time);
  assert.deepEqual(durations.summary(), { count: 0, mean: 0, p50: 0, p95: 0, max: 0 });
});
