import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createPipeline } from '../pipeline/pipeline.ts';
import { convArbitrary } from './testing/arbitrary.ts';

const pipelineOf = (parameters: Record<string, string>) => createPipeline([{ kernel: 'conv', parameters }]);

/** Worked out by hand: what the matrix gives of pixels of 0 and 255, in widths, and how many bins that takes. */
const table: [kernel: string, as: string, least: number, width: number, bins: number][] = [
  ['sobel-x', 'u8', 0, 1, 256],
  // Weights of -4 and 4 in all, of -3 and 3, of -16 and 16, and of -4 and 5.
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

test('the bins of named kernels span what they can give, and no more than fits', () => {
  for (const [kernel, as, least, width, bins] of table) {
    const pipeline = pipelineOf({ kernel, as });
    const { first, width: ours } = pipeline.binning!;
    assert.deepEqual([kernel, as, first * ours, ours, pipeline.bins], [kernel, as, least, width, bins]);
  }
});

test('results that are saturated have no bins beyond what they are saturated to', () => {
  // 255 * 200 is 51000, so that 32767 is the most; in 32768 + 255 values there are 4 times 8192 at least.
  const { bins, binning } = pipelineOf({ matrix: '[[0,0,0],[0,200,0],[0,0,-1]]', as: 'i16' });
  assert.deepEqual([bins, binning], [4128, { first: -32, width: 8, isExact: true, isOneValue: false, deepScale: 257 }]);
});

test('a matrix of zeros has one bin', () => {
  for (const as of ['f32', 'i16']) {
    const { bins, binning } = pipelineOf({ matrix: '[[0,0,0],[0,0,0],[0,0,0]]', as });
    assert.deepEqual([bins, binning!.first], [1, 0]);
  }
});

test('bins are few, have 0 among them, and are of a power of two that is as small as it can be', () => {
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
      // In half the width there would be too many: 2 more than the ends of the range say, where it lies across bins.
      const span = weights.length * 255 * size * (1 + 1e-5);
      if (width > (as === 'f32' ? 2 ** -100 : 1))
        assert.ok(span / (width / 2) > most - 2, `${span} in bins of ${width}`);
    }),
  );
});
