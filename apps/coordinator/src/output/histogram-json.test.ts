import assert from 'node:assert/strict';
import { test } from 'node:test';
import { histogramJson } from './histogram-json.ts';

test('integers are numbers up to 2^53 and strings above', () => {
  const bins = BigUint64Array.of(0n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n - 1n);
  const text = histogramJson({
    kernel: 'lbp',
    convention: 'nw-cw-msb',
    counted: 12n,
    channels: [
      { name: 'gray', bins },
      { name: '45', bins: BigUint64Array.of(1n) },
    ],
  });
  assert.deepEqual(JSON.parse(text), {
    kernel: 'lbp',
    convention: 'nw-cw-msb',
    counted: 12,
    channels: [
      { name: 'gray', bins: [0, 9007199254740992, '9007199254740993', '18446744073709551615'] },
      { name: '45', bins: [1] },
    ],
  });
});

test('of values it says which a bin counts, whether they are exact, and their statistics', () => {
  const binning = { first: -1, width: 1, isExact: true, isOneValue: true, deepScale: 257 };
  const channels = [
    { name: 'gray', bins: BigUint64Array.of(2n ** 60n, 0n, 0n) },
    { name: 'none', bins: new BigUint64Array(3) },
  ];
  const merged = { kernel: 'conv', convention: 'convolution', counted: 2n ** 60n, channels };
  const exact = JSON.parse(histogramJson({ ...merged, binning }));
  assert.deepEqual(
    [exact.range, exact.width, exact.exact, exact.note],
    [[-1, 2], 1, true, 'Values of images of 16 bits are counted divided by 257.'],
  );
  const [gray, none] = exact.channels;
  const sums = { sum: '-1152921504606846976', sumOfSquares: '1152921504606846976' };
  assert.deepEqual(gray.statistics, { min: -1, max: -1, ...sums, mean: -1, standardDeviation: 0 });
  assert.deepEqual(Object.keys(none), ['name', 'bins']);

  const near = JSON.parse(histogramJson({ ...merged, binning: { ...binning, isExact: false, isOneValue: false } }));
  assert.equal(near.exact, false);
  assert.match(
    near.note,
    /^Near: .* leaves bins out\. Statistics are those of the middles .*\. Values of images of 16 bits/,
  );
});
