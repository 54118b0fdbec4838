import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPipeline } from '../pipeline/pipeline.ts';
import { samplesOf, staged } from '../testing/index.ts';
import { oracleRuns, readGray, readOracle, sha256, whyLeftOut } from '../testing/oracle.ts';
import { checkConvolution, type ExpectedConv } from './testing/check-convolution.ts';

for (const expected of readOracle<{ conv: ExpectedConv[] }>()) {
  describe(expected.name, async () => {
    const image = await readGray(expected);
    const skip = whyLeftOut(expected);
    if (skip) return test('every case', { skip });
    for (const conv of expected.conv) {
      for (const [name, run] of Object.entries(oracleRuns(expected))) {
        test(`${name}: ${conv.kernel}, ${conv.border}`, () => {
          const pipeline = createPipeline([
            { kernel: 'conv', parameters: { kernel: conv.kernel }, border: conv.border },
          ]);
          const { item, bytes } = staged(pipeline, image);
          checkConvolution(samplesOf(pipeline, run(pipeline, bytes, item, true), image), image, conv);
        });
      }
    }
  });
}

/**
 * Computed by SciPy 1.17 and NumPy 2.4 from coins.png: r = ndimage.convolve(gray as int64, matrix, mode='mirror'). With
 * `least` as 255 times the sum of negative weights: SHA-256 of bincount((r - least).ravel(), minlength=bins) as <u4, or
 * the same of r // width.
 */
const counts: [kernel: string, as: string, bins: number, sha256: string][] = [
  ['sobel-x', 'i16', 2041, 'ad8f251a2bfc13d34fb9c508db76a0f4d5fee7c34f3d2c01c86e7464273693d4'],
  ['sobel-x', 'f32', 256, '7638ff3de9ac2b40c7822a0a4beca1f1c4ea661ae38d13022295afcfa7dfb819'],
  ['log-5', 'i16', 8161, '3d371dd90eeedc5e6d1e37803ad297d8a81fed4f5b1771b273046ea6ea956a79'],
  ['log-5', 'f32', 256, '387826f869c0a68f4e505d90d2d42d87b1aba11b4a8f12cde5e20f44789f8c85'],
  ['sharpen-3', 'i16', 2296, '17766ca58d4c3e58a54af5756afbbd04a3e9272fce91ca77fe958e28b7f312ad'],
  ['sharpen-3', 'f32', 144, 'e163841a2402cfaca79bfd62a37365c8a81bb95f2be5d582bef17eb5bc2a6cd4'],
];

describe('results are counted as by NumPy', async () => {
  const coins = { name: 'coins.png', gray: { sha256: '' } };
  const image = await readGray(coins);
  for (const [kernel, as, bins, expected] of counts) {
    for (const [name, run] of Object.entries(oracleRuns(coins))) {
      test(`${name}: ${kernel}, ${as}`, () => {
        const pipeline = createPipeline([{ kernel: 'conv', parameters: { kernel, as }, border: 'mirror' }]);
        const { item, bytes } = staged(pipeline, image);
        const counted = run(pipeline, bytes, item, false).bins;
        assert.deepEqual([counted.length, sha256(counted)], [bins, expected]);
      });
    }
  }
});
