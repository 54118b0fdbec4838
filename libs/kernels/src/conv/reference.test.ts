import assert from 'node:assert/strict';
import test from 'node:test';
import { greatest, type PixelType } from '@halogrid/geometry';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { borderIndex, borderModes } from '../kernel/border.ts';
import { runReference } from '../reference.ts';
import { countSamples, createPipelineOver, noiseFor, samplesOf, staged, tileArbitrary } from '../testing/index.ts';
import { convArbitrary } from './testing/arbitrary.ts';
import { assertNear } from './testing/check-convolution.ts';

test('values, rounding and counts follow the definition, pixel by pixel, for whole images and tiles', () => {
  fc.assert(
    fc.property(
      tileArbitrary(16, 16),
      convArbitrary,
      fc.constantFrom(...borderModes),
      fc.constantFrom<PixelType[]>('u8', 'u16'),
      ({ size, tile, seed, levels }, { parameters, weights }, border, type) => {
        const { width, height } = size;
        const pipeline = createPipelineOver(type, [{ kernel: 'conv', parameters, border }]);
        const bands = pipeline.input.length;
        const image = noiseFor(pipeline, size, seed, levels);
        const { item, bytes } = staged(pipeline, image, tile);
        const result = runReference(pipeline, bytes, item, true);
        const samples = samplesOf(pipeline, result, tile);
        const halo = (weights[0]!.length - 1) / 2;
        let counted = 0;
        let i = 0;
        for (let band = 0; band < bands; band++) {
          const pixel = (x: number, y: number) => {
            const [bx, by] = [borderIndex(x, width, border), borderIndex(y, height, border)];
            return bx < 0 || by < 0 ? 0 : image.pixels[(band * height + by) * width + bx]!;
          };
          for (let y = tile.y; y < tile.y + tile.height; y++) {
            for (let x = tile.x; x < tile.x + tile.width; x++, i++) {
              const isInside = x >= halo && y >= halo && x < width - halo && y < height - halo;
              if (border === 'interior' && !isInside) {
                assert.equal(samples[i], 0);
                continue;
              }
              counted++;
              const around = weights.map((matrix) => sumOf(matrix, (dx, dy) => pixel(x + dx, y + dy)));
              if (parameters.as === 'f32') {
                const { real, range } = around[0]!;
                const value = around.length === 2 ? Math.hypot(real, around[1]!.real) : real;
                assertNear(samples[i]!, value, 1e-6 * range * greatest[type] + 1e-30);
              } else {
                const value = around.length === 2 ? roundRoot(around[0]!, around[1]!) : roundHalfEven(around[0]!);
                const [least, most] = parameters.as === 'u8' ? [0, 255] : [-32768, 32767];
                assert.equal(samples[i], Math.min(Math.max(value, least), most));
              }
            }
          }
        }
        assert.deepEqual([...result.bins], countSamples(samples, result.counted, pipeline));
        assert.equal(result.counted * bands, counted);
      },
    ),
    { numRuns: runs(300) },
  );
});

/** An exact sum in units of 2^-digits, and as a number; `range` is the largest sum over pixels of at most 1. */
interface Sum {
  units: bigint;
  digits: bigint;
  real: number;
  range: number;
}

/** The sum over i, j of weight(i, j) times the pixel i rows above and j columns left: the definition of convolution. */
function sumOf(matrix: readonly (readonly number[])[], pixel: (dx: number, dy: number) => number): Sum {
  const size = matrix.flat().reduce((sum, weight) => sum + Math.abs(weight), 0);
  const digits = Math.min(34, Math.floor(Math.log2(2 ** 42 / (255 * Math.max(size, 1e-9)))));
  const halo = (matrix.length - 1) / 2;
  let [units, real] = [0n, 0];
  for (let i = -halo; i <= halo; i++) {
    for (let j = -halo; j <= halo; j++) {
      const weight = matrix[i + halo]![j + halo]!;
      units += BigInt(Math.round(weight * 2 ** digits)) * BigInt(pixel(-j, -i));
      real += weight * pixel(-j, -i);
    }
  }
  return { units, digits: BigInt(digits), real, range: size };
}

function roundHalfEven({ units, digits }: Sum): number {
  const one = 1n << digits;
  const rest = ((units % one) + one) % one;
  const below = (units - rest) / one;
  const isUp = 2n * rest > one || (2n * rest === one && below % 2n !== 0n);
  return Number(isUp ? below + 1n : below);
}

/** The integer nearest to the root of the sum of the squares of two integers: such a root is never a half. */
function roundRoot(a: Sum, b: Sum): number {
  const squares = (a.units >> a.digits) ** 2n + (b.units >> b.digits) ** 2n;
  let root = 0n;
  // (root + 1/2)^2 is root (root + 1) + 1/4. No sample type holds more than 40,000.
  while (root * (root + 1n) < squares && root < 40_000n) root++;
  return Number(root);
}
