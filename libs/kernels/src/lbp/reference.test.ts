import assert from 'node:assert/strict';
import test from 'node:test';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { borderIndex, borderModes } from '../kernel/border.ts';
import { runReference } from '../reference.ts';
import { createPipelineOver, noiseFor, samplesOf, staged, tileArbitrary } from '../testing/index.ts';
import { defineLbp } from './testing/define-lbp.ts';

/** Every convention with all its labels, numbers of points and radii. */
const variants = [
  ...['nw-cw-msb', 'nw-cw-lsb'].flatMap((convention) =>
    ['all', 'ror', 'uniform', 'nri-uniform', 'var'].map((labels) => ({ convention, points: 8, radius: 1, labels })),
  ),
  ...['all', 'ror', 'uniform', 'nri-uniform', 'var'].flatMap((labels) => [
    { convention: 'scikit-image', points: 8, radius: 1, labels },
    { convention: 'scikit-image', points: 12, radius: 0.3, labels },
    { convention: 'scikit-image', points: 17, radius: 2.7, labels },
    { convention: 'scikit-image', points: 24, radius: 3, labels },
  ]),
  { convention: 'opencv', points: 8, radius: 1, labels: 'all' },
  { convention: 'opencv', points: 13, radius: 2, labels: 'all' },
  ...['all', 'ror', 'uniform', 'nri-uniform'].flatMap((labels) => [
    { convention: 'bob', points: 8, radius: 1, labels },
    { convention: 'bob', points: 4, radius: 2, labels },
    { convention: 'bob', points: 16, radius: 2.5, labels },
    { convention: 'bob-circular', points: 4, radius: 1.5, labels },
    { convention: 'bob-circular', points: 8, radius: 1, labels },
  ]),
  { convention: 'bob-circular', points: 11, radius: 1.2, labels: 'all' },
  { convention: 'mahotas', points: 8, radius: 1, labels: 'ror' },
  { convention: 'mahotas', points: 9, radius: 2.25, labels: 'ror' },
];

test('labels, variances and counts follow the definition, pixel by pixel, for whole images and tiles', () => {
  fc.assert(
    fc.property(
      tileArbitrary(14, 12),
      fc.constantFrom(...borderModes),
      fc.constantFrom(...variants),
      fc.constantFrom('u8', 'u16'),
      ({ size, tile, seed, levels }, border, lbp, pixel) => {
        const { width, height } = size;
        const parameters = { ...lbp, points: String(lbp.points), radius: String(lbp.radius) };
        const pipeline = createPipelineOver(pixel, [{ kernel: 'lbp', parameters, border }]);
        const image = noiseFor(pipeline, size, seed, levels);
        const { item, bytes } = staged(pipeline, image, tile);
        const result = runReference(pipeline, bytes, item, true);
        const samples = samplesOf(pipeline, result, tile);

        const read = (x: number, y: number) => {
          const [bx, by] = [borderIndex(x, width, border), borderIndex(y, height, border)];
          return bx < 0 || by < 0 ? 0 : image.pixels[by * width + bx]!;
        };
        const rim = border === 'interior' ? Math.ceil(lbp.radius) : 0;
        const bins = new Array(pipeline.bins).fill(0);
        let counted = 0;
        for (let y = 0; y < tile.height; y++) {
          for (let x = 0; x < tile.width; x++) {
            const [ix, iy] = [tile.x + x, tile.y + y];
            const isInside = ix >= rim && iy >= rim && ix < width - rim && iy < height - rim;
            const expected = isInside ? defineLbp(read, ix, iy, lbp) : 0;
            const sample = samples[y * tile.width + x]!;
            if (lbp.labels === 'var') checkVariance(sample, expected);
            else assert.equal(sample, expected);
            if (!isInside) continue;
            if (pipeline.bins > 0) bins[expected]++;
            counted++;
          }
        }
        assert.deepEqual([...result.bins], bins);
        assert.equal(result.counted, counted);
      },
    ),
    { numRuns: runs(2000) },
  );
});

/** Checks a variance to within the precision of f32. */
function checkVariance(sample: number, expected: number): void {
  if (Number.isNaN(expected)) assert.ok(Number.isNaN(sample));
  else assert.ok(Math.abs(sample - expected) <= 1e-6 * expected, `${sample} is not ${expected}`);
}
