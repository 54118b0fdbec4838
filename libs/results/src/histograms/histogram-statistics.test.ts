import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { statisticsOf } from './histogram-statistics.ts';

const oneValue = { first: -3, width: 1, isExact: true, isOneValue: true, deepScale: 257 };

test('if each value has a bin, the statistics are exact', () => {
  // The values are -3, 2, 2, 2 and 4: the mean of their squares is 37 / 5, and the square of their mean 1.96.
  assert.deepEqual(statisticsOf(BigUint64Array.of(1n, 0n, 0n, 0n, 0n, 3n, 0n, 1n), oneValue), {
    min: -3,
    max: 4,
    sum: 7n,
    sumOfSquares: 37n,
    mean: 1.4,
    standardDeviation: Math.sqrt(5.44),
  });
});

test('the statistics equal the same computed from a list of the values', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -3, max: 4 }), { minLength: 1 }), (values) => {
      const bins = new BigUint64Array(8);
      for (const value of values) bins[value + 3]!++;
      const { min, max, sum, sumOfSquares, mean, standardDeviation } = statisticsOf(bins, oneValue)!;
      const total = values.reduce((all, value) => all + value, 0);
      const squares = values.reduce((all, value) => all + value ** 2, 0);
      assert.deepEqual(
        [min, max, sum, sumOfSquares],
        [Math.min(...values), Math.max(...values), BigInt(total), BigInt(squares)],
      );
      const centre = total / values.length;
      const spread = Math.sqrt(values.reduce((all, value) => all + (value - centre) ** 2, 0) / values.length);
      assert.ok(Math.abs(mean - centre) < 1e-12 && Math.abs(standardDeviation - spread) < 1e-7);
    }),
  );
});

test('counts beyond every number that a float64 holds give exact sums', () => {
  const bins = BigUint64Array.of(2n ** 60n, 0n, 0n, 0n, 2n ** 60n + 1n);
  const { sum, sumOfSquares } = statisticsOf(bins, oneValue)!;
  assert.deepEqual([sum, sumOfSquares], [-2n * 2n ** 60n + 1n, 10n * 2n ** 60n + 1n]);
});

test('wider bins count as their middles, and min and max are their ends', () => {
  const bins = BigUint64Array.of(0n, 1n, 0n, 3n);
  const reals = { ...oneValue, first: -2, width: 4, isExact: false, isOneValue: false };
  // The middles are -2 and, three times, 6.
  assert.deepEqual(statisticsOf(bins, reals), { min: -4, max: 8, mean: 4, standardDeviation: Math.sqrt(12) });
  // Integers of a bin are -4 … -1 and 4 … 7.
  const { min, max, mean } = statisticsOf(bins, { ...reals, isExact: true })!;
  assert.deepEqual([min, max, mean], [-4, 7, 3.5]);
});

test('an empty histogram has no statistics', () => {
  assert.equal(statisticsOf(new BigUint64Array(8), oneValue), undefined);
});
