import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPipeline } from '@halogrid/kernels';
import { resultsVersion, softwareVersion } from '@halogrid/service/version';
import { describeResults } from './describe-results.ts';
import { histogramJson } from './histogram-json.ts';

const pipeline = createPipeline([
  { kernel: 'conv', parameters: { kernel: 'gaussian-5', as: 'u8' } },
  { kernel: 'ldp', parameters: {}, border: 'mirror' },
]);
const description = describeResults(pipeline, { rows: 4, columns: 6 }, 'abc');

test('integers are numbers up to 2^53 and strings above, and the file says all that the bins depend on', () => {
  const bins = BigUint64Array.of(0n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n - 1n);
  const channels = [
    { name: '0', bins },
    { name: '45', bins: BigUint64Array.of(1n) },
  ];
  const text = histogramJson({ kernel: 'ldp', counted: 12n, channels, description });
  const towards = ['0 degrees (east)', '45 degrees (north-east)', '90 degrees (north)', '135 degrees (north-west)'];
  assert.deepEqual(JSON.parse(text), {
    kernel: 'ldp',
    convention: 'zhang-nw-cw-msb',
    counted: 12,
    version: softwareVersion,
    resultsVersion,
    digest: 'abc',
    pipeline: [
      // Sigma as OpenCV derives it: 0.3 ((5 - 1) 0.5 - 1) + 0.8.
      {
        kernel: 'conv',
        parameters: { kernel: 'gaussian-5', sigma: '1.1', channels: 'gray', as: 'u8' },
        border: 'zero',
      },
      { kernel: 'ldp', parameters: { order: '3' }, border: 'mirror' },
    ],
    grid: { rows: 4, columns: 6 },
    input: ['gray'],
    histogram: {
      binsPerChannel: 256,
      bin: 'pixels of code i; bits 7 to 0 of a code are the neighbours NW, N, NE, E, SE, S, SW, W',
      channels: ['0', '45', '90', '135'].map((name, i) => ({
        name,
        of: `derivatives of order 2 towards ${towards[i]}`,
      })),
    },
    channels: [
      { name: '0', bins: [0, 9007199254740992, '9007199254740993', '18446744073709551615'] },
      { name: '45', bins: [1] },
    ],
  });
});

test('the file says which of the pixels were read and counted, if the job chose some', () => {
  const chosenBy = (options: Parameters<typeof describeResults>[3]): unknown => {
    const told = describeResults(pipeline, { rows: 1, columns: 1 }, 'abc', options);
    return JSON.parse(histogramJson({ kernel: 'ldp', counted: 0n, channels: [], description: told })).chosen;
  };
  assert.equal(chosenBy({ level: '', page: 0, nodata: '', mask: '' }), undefined);
  const options = {
    band: { numbers: [4] },
    scale: { min: -25, max: 5, bits: 8 },
    level: '0.5um',
    page: 3,
    nodata: '0',
    mask: 'file:///data/masks',
  };
  assert.deepEqual(chosenBy(options), options);
});

test('for values, the file says which of them a bin counts, whether counts are exact, and the statistics', () => {
  const binning = { first: -1, width: 1, isExact: true, isOneValue: true, deepScale: 257 };
  const channels = [
    { name: 'gray', bins: BigUint64Array.of(2n ** 60n, 0n, 0n) },
    { name: 'none', bins: new BigUint64Array(3) },
  ];
  const merged = { kernel: 'conv', counted: 2n ** 60n, channels, description };
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
    /^Near: .* leaves bins out\. Statistics count each value as the middle .*\. Values of images of 16 bits/,
  );
});
