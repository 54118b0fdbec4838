import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPipeline } from '../pipeline/pipeline.ts';
import { conv } from './conv.ts';

const identity = (side: number): string =>
  JSON.stringify(Array.from({ length: side }, (_, i) => Array.from({ length: side }, (_, j) => (i === j ? 1 : 0))));
const names =
  'one of prewitt-x, prewitt-y, prewitt, sobel-x, sobel-y, sobel, log-5, sharpen-3, or gaussian-N or box-N with odd N from 3 to 31';

const refused: [title: string, given: Record<string, string>, message: string][] = [
  ['nothing', {}, `Expected kernel, such as kernel=sobel-x, or matrix for conv but received 'neither'`],
  [
    'both',
    { kernel: 'log-5', matrix: identity(3) },
    `Expected either kernel or matrix for conv but received 'kernel=log-5 and a matrix'`,
  ],
  [
    'an unknown parameter',
    { kernel: 'log-5', size: '3' },
    `Expected one of kernel, matrix, sigma, channels, as for a parameter of conv but received 'size'`,
  ],
  ['an unknown kernel', { kernel: 'scharr' }, `Expected ${names} for conv:kernel but received 'scharr'`],
  [
    'no side',
    { kernel: 'gaussian' },
    `Expected ${names} for conv:kernel but received 'gaussian' (did you mean gaussian-3?)`,
  ],
  ['an even side', { kernel: 'box-4' }, `Expected ${names} for conv:kernel but received 'box-4' (did you mean box-3?)`],
  ['a side of 1', { kernel: 'box-1' }, `Expected ${names} for conv:kernel but received 'box-1' (did you mean box-11?)`],
  [
    'a side of 33',
    { kernel: 'gaussian-33' },
    `Expected ${names} for conv:kernel but received 'gaussian-33' (did you mean gaussian-3?)`,
  ],
  [
    'a side that others fix',
    { kernel: 'sobel-5' },
    `Expected ${names} for conv:kernel but received 'sobel-5' (did you mean sobel?)`,
  ],
  [
    'sigma of a box',
    { kernel: 'box-3', sigma: '1' },
    `Expected no value but with kernel=gaussian-N for conv:sigma but received '1'`,
  ],
  [
    'sigma of a matrix',
    { matrix: identity(3), sigma: '1' },
    `Expected no value but with kernel=gaussian-N for conv:sigma but received '1'`,
  ],
  ...['0', '-1', 'wide', 'NaN', 'Infinity', '101', ''].map((sigma): [string, Record<string, string>, string] => [
    `sigma=${sigma}`,
    { kernel: 'gaussian-5', sigma },
    `Expected a number from 0.1 to 100 for conv:sigma but received '${sigma}'`,
  ]),
  [
    'channels',
    { kernel: 'log-5', channels: 'cmyk' },
    `Expected one of gray, rgb for conv:channels but received 'cmyk'`,
  ],
  ['a type', { kernel: 'log-5', as: 'u16' }, `Expected one of f32, u8, i16 for conv:as but received 'u16'`],
  [
    'a matrix that is not JSON',
    { matrix: '[[1,2,NaN]]' },
    `Expected a square matrix of finite numbers as JSON, such as [[0,1,0],[1,-4,1],[0,1,0]], for conv:matrix but received '[[1,2,NaN]]'`,
  ],
  [
    'a long matrix that is not JSON',
    { matrix: `[[${'1,'.repeat(100)}]]` },
    `Expected a square matrix of finite numbers as JSON, such as [[0,1,0],[1,-4,1],[0,1,0]], for conv:matrix but received '[[${'1,'.repeat(28)}1…'`,
  ],
  [
    'a matrix without rows',
    { matrix: '[1,2,3]' },
    `Expected an array of rows, such as [[0,1,0],[1,-4,1],[0,1,0]], for conv:matrix but received '[1,2,3]'`,
  ],
  [
    'an even matrix',
    { matrix: identity(4) },
    `Expected an odd side from 3 to 31 for conv:matrix but received '4 rows'`,
  ],
  [
    'a matrix of one entry',
    { matrix: '[[1]]' },
    `Expected an odd side from 3 to 31 for conv:matrix but received '1 rows'`,
  ],
  [
    'a large matrix',
    { matrix: identity(33) },
    `Expected an odd side from 3 to 31 for conv:matrix but received '33 rows'`,
  ],
  [
    'a matrix that is not square',
    { matrix: '[[1,2,3],[1,2],[1,2,3]]' },
    `Expected as many columns as rows, 3, for conv:matrix but received '2 in row 2'`,
  ],
  ...['null', '"1"', '1e31', '[1]'].map((entry): [string, Record<string, string>, string] => [
    `the entry ${entry}`,
    { matrix: `[[1,2,3],[1,2,${entry}],[1,2,3]]` },
    `Expected finite numbers from -1e30 to 1e30 for conv:matrix but received '${entry === '1e31' ? '1e+31' : entry} in row 2, column 3'`,
  ]),
  [
    'an infinite entry',
    { matrix: `[[1,2,3],[1,2,-1e999],[1,2,3]]` },
    `Expected finite numbers from -1e30 to 1e30 for conv:matrix but received '-Infinity in row 2, column 3'`,
  ],
  [
    'a matrix too large to be rounded exactly',
    { matrix: '[[0,0,0],[0,-3000000,0],[0,0,0]]', as: 'i16' },
    `Expected entries whose absolute values have a sum of at most 2105376 with as=i16 for conv:matrix but received 'a sum of 3000000'`,
  ],
];

describe('conv refuses', () => {
  for (const [title, parameters, message] of refused) {
    test(title, () => {
      assert.throws(() => createPipeline([{ kernel: 'conv', parameters }]), { name: 'ParameterError', message });
    });
  }
});

const accepted: [given: Record<string, string>, complete: Record<string, string>][] = [
  [{ kernel: 'sobel' }, { kernel: 'sobel', channels: 'gray', as: 'f32' }],
  [
    { kernel: 'box-31', channels: 'rgb', as: 'u8' },
    { kernel: 'box-31', channels: 'rgb', as: 'u8' },
  ],
  [{ kernel: 'gaussian-5' }, { kernel: 'gaussian-5', sigma: '1.1', channels: 'gray', as: 'f32' }],
  [
    { kernel: 'gaussian-21', sigma: '2.50', as: 'i16' },
    { kernel: 'gaussian-21', sigma: '2.5', channels: 'gray', as: 'i16' },
  ],
  [
    { matrix: ' [[1, 0.50, -0],\n[1e2, 0, 0], [0, 0, 0]]' },
    { matrix: '[[1,0.5,0],[100,0,0],[0,0,0]]', channels: 'gray', as: 'f32' },
  ],
  [
    { matrix: '[[0,0,0],[0,3000000,0],[0,0,0]]' },
    { matrix: '[[0,0,0],[0,3000000,0],[0,0,0]]', channels: 'gray', as: 'f32' },
  ],
];

test('parameters are completed and put in canonical form, which stays the same', () => {
  for (const [given, complete] of accepted) {
    assert.deepEqual(conv.complete(given), complete);
    assert.deepEqual(conv.complete(complete), complete);
  }
});

test('a pipeline of conv describes its results', () => {
  const pipelineOf = (parameters: Record<string, string>) => createPipeline([{ kernel: 'conv', parameters }]);
  const { operations, ...gray } = pipelineOf({ kernel: 'gaussian-21', as: 'u8' });
  assert.equal(operations[0]!.border, 'zero');
  assert.deepEqual(gray, {
    input: ['gray'],
    pixel: 'u8',
    output: { sample: 'u8', channels: ['gray'] },
    meaning: 'values',
    words: { channels: ['the gray channel convolved'], bin: 'pixels whose result is rounded to i' },
    bins: 256,
    binning: { first: 0, width: 1, isExact: true, isOneValue: true, deepScale: 1 },
    pairs: undefined,
    minSide: 21,
    convention: 'convolution',
  });
  const { input, output, bins, minSide, words, binning } = pipelineOf({
    matrix: identity(7),
    channels: 'rgb',
    as: 'i16',
  });
  assert.deepEqual([input, output.channels], [output.channels, ['red', 'green', 'blue']]);
  assert.deepEqual([output.sample, bins, minSide], ['i16', 1786, 7]);
  assert.match(words.bin!, new RegExp(`^pixels with results from ${binning!.first * binning!.width} \\+ 1 i up to, `));
});
