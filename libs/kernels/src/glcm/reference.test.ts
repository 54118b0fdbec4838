import assert from 'node:assert/strict';
import test from 'node:test';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { borderIndex, borderModes } from '../kernel/border.ts';
import { createPipeline } from '../pipeline/pipeline.ts';
import { runReference } from '../reference.ts';
import { createPipelineOver, noiseFor, samplesOf, staged, tileArbitrary } from '../testing/index.ts';
import { glcmArbitrary } from './testing/arbitrary.ts';

/** Columns and rows of a distance of 1 at each angle, as a person reads them off scikit-image's sine and cosine. */
const directions: Record<string, [right: number, down: number]> = {
  0: [1, 0],
  45: [1, 1],
  90: [0, 1],
  135: [-1, 1],
  180: [-1, 0],
  225: [-1, -1],
  270: [0, -1],
  315: [1, -1],
};

test('codes and matrices follow the definition, pixel by pixel, for whole images and tiles', () => {
  fc.assert(
    fc.property(
      tileArbitrary(24, 24),
      fc.constantFrom(...borderModes),
      glcmArbitrary,
      fc.constantFrom('u8', 'u16'),
      ({ size, tile, seed, levels: values }, border, parameters, pixel) => {
        const pipeline = createPipelineOver(pixel, [{ kernel: 'glcm', parameters, border }]);
        const image = noiseFor(pipeline, size, seed, values);
        const { item, bytes } = staged(pipeline, image, tile);
        const result = runReference(pipeline, bytes, item, true);
        const codes = samplesOf(pipeline, result, tile);

        const levels = Number(parameters.levels);
        const isSymmetric = parameters.symmetric === 'true';
        const levelAt = (x: number, y: number): number | undefined => {
          const isInside = x >= 0 && y >= 0 && x < size.width && y < size.height;
          if (!isInside && border === 'interior') return undefined;
          const [column, row] = [borderIndex(x, size.width, border), borderIndex(y, size.height, border)];
          const value = column < 0 || row < 0 ? 0 : image.pixels[row * size.width + column]!;
          return Math.floor((value * levels) / (pixel === 'u8' ? 2 ** 8 : 2 ** 16));
        };
        const matrices = parameters.offsets!.split('+').map((offset, band) => {
          const [distance, angle] = offset.split('@');
          const [right, down] = directions[angle!]!;
          const steps = right && down ? Math.round(Number(distance) / Math.SQRT2) : Number(distance);
          const matrix = new Array<number>(levels ** 2).fill(0);
          for (let y = 0; y < tile.height; y++) {
            for (let x = 0; x < tile.width; x++) {
              const own = levelAt(tile.x + x, tile.y + y)!;
              const partner = levelAt(tile.x + x + steps * right, tile.y + y + steps * down);
              const code = partner === undefined ? 0 : own * levels + partner;
              assert.equal(codes[(band * tile.height + y) * tile.width + x], code);
              if (partner === undefined) continue;
              matrix[code]!++;
              if (isSymmetric) matrix[partner * levels + own]!++;
            }
          }
          return matrix;
        });
        assert.deepEqual([...result.bins], matrices.flat());
        assert.equal(
          result.counted,
          matrices[0]!.reduce((sum, count) => sum + count, 0),
        );
      },
    ),
    { numRuns: runs(300) },
  );
});

test('the cells of a grid, and tiles, add up to the whole image', () => {
  fc.assert(
    fc.property(
      tileArbitrary(40, 40),
      fc.constantFrom(...borderModes),
      glcmArbitrary,
      fc.integer({ min: 1, max: 4 }),
      ({ size, tile, seed }, border, parameters, rows) => {
        const pipeline = createPipeline([{ kernel: 'glcm', parameters, border }]);
        const image = noiseFor(pipeline, size, seed);
        const [cut, whole] = [
          { rows, columns: 3 },
          { rows: 1, columns: 1 },
        ].map((grid) => {
          const { item, bytes } = staged(pipeline, image, tile, grid);
          return runReference(pipeline, bytes, item, false);
        });
        const bins = new Array<number>(whole!.bins.length).fill(0);
        for (const [i, count] of cut!.bins.entries()) bins[i % bins.length]! += count;
        assert.deepEqual(bins, [...whole!.bins]);
        assert.equal(cut!.counted, whole!.counted);
      },
    ),
    { numRuns: runs(200) },
  );
});
