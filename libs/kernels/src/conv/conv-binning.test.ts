import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createPipeline } from '../pipeline/pipeline.ts';
import { convArbitrary } from './testing/arbitrary.ts';

const pipelineOf = (parameters: Record<string, string>) => createPipeline([{ kernel: 'conv', parameters }]);

/**
 * Worked out by hand: the least result of the matrix over pixels of 0 and 255 in widths, the width, and the number of
 * bins.
 */
const table: [kernel: string, as: string, least: number, width: number, bins: number][] = [
  ['sobel-x', 'u8', 0, 1, 256],
  // The sums of negative and positive weights: -4 and 4, -3 and 3, -16 and 16, and -4 and 5.
  ['sobel-x', 'i16', -1020, 1, 2041],
  ['prewitt-y', 'i16', -765, 1, 1531],
  ['log-5', 'i16', -4080, 1, 8161],
  ['sharpen-3', 'i16', -1020, 1, 2296],
  // The root of 1020^2 + 1020^2 is 1442.5, or a little less.
  ['sobel', 'i16', 0, 1, 1443],
  ['gaussian-21', 'i16', 0, 1, 256],
  ['box-31', 'i16', 0, 1, 256],
  ['sobel-x', 'f32', -1024, 8, 256],
  ['prewitt-y', 'f32', -768, 8, 192],
  ['log-5', 'f32', -4096, 32, 256],
  ['sharpen-3', 'f32', -1024, 16, 144],
  ['sobel', 'f32', 0, 8, 181],
  ['gaussian-21', 'f32', 0, 1, 256],
  ['box-31', 'f32', 0, 1, 256],
];

test('the bins of named kernels span their possible results, up to the largest number of bins', () => {
  for (const [kernel, as, least, width, bins] of table) {
    const pipeline = pipelineOf({ kernel, as });
    const { first, width: ours } = pipeline.binning!;
    assert.deepEqual([kernel, as, first * ours, ours, pipeline.bins], [kernel, as, least, width, bins]);
  }
});

test('saturated results have no bins beyond the limits', () => {
  // 255 * 200 is 51000, so the greatest result is 32767. The 32768 + 255 values need bins of width 8 to fit 8192 bins.
  const { bins, binning } = pipelineOf({ matrix: '[[0,0,0],[0,200,0],[0,0,-1]]', as: 'i16' });
  assert.deepEqual([bins, binning], [4128, { first: -32, width: 8, isExact: true, isOneValue: false, deepScale: 257 }]);
});

test('a matrix of zeros has one bin', () => {
  for (const as of ['f32', 'i16']) {
    const { bins, binning } = pipelineOf({ matrix: '[[0,0,0],[0,0,0],[0,0,0]]', as });
    assert.deepEqual([bins, binning!.first], [1, 0]);
  }
});

test('bins are limited in number, include 0, and have the smallest possible power of two as width', () => {
  fc.assert(
    fc.property(convArbitrary, ({ parameters, weights }) => {
      const { bins, binning } = pipelineOf(parameters);
      const { first, width, isExact, isOneValue } = binning!;
      const { as } = parameters;
      const most = { f32: 256, i16: 8192, u8: 256 }[as!]!;
      assert.ok(bins >= 1 && bins <= most);
      assert.ok(first <= 0 && first + bins > 0);
      assert.ok(Number.isInteger(Math.log2(width)));
      assert.deepEqual([isExact, isOneValue], [as !== 'f32', as !== 'f32' && width === 1]);
      const size = Math.max(
        ...weights.map((matrix) => matrix.flat().reduce((sum, weight) => sum + Math.abs(weight), 0)),
      );
      // Half the width would give too many bins: a range that lies across bins takes up to 2 more than its length says.
      const span = weights.length * 255 * size * (1 + 1e-5);
      if (width > (as === 'f32' ? 2 ** -100 : 1))
        assert.ok(span / (width / 2) > most - 2, `${span} in bins of ${width}`);
    }),
  );
});
