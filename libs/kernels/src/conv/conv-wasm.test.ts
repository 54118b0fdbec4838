import assert from 'node:assert/strict';
import test from 'node:test';
import type { PixelType } from '@halogrid/geometry';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { runCpu } from '../cpu.ts';
import { borderModes } from '../kernel/border.ts';
import { createPipeline } from '../pipeline/pipeline.ts';
import { runReference } from '../reference.ts';
import {
  countSamples,
  createPipelineOver,
  noiseFor,
  noiseImage,
  samplesOf,
  staged,
  tileArbitrary,
  verifyBins,
  verifySamples,
} from '../testing/index.ts';
import { convArbitrary } from './testing/arbitrary.ts';

test('tiles of any size, place, border and kernel equal the reference', () => {
  fc.assert(
    fc.property(
      tileArbitrary(70, 20),
      convArbitrary,
      fc.constantFrom(...borderModes),
      fc.boolean(),
      fc.constantFrom({ rows: 1, columns: 1 }, { rows: 3, columns: 2 }),
      ({ size, tile, seed, levels }, { parameters }, border, withMap, grid) => {
        const pipeline = createPipeline([{ kernel: 'conv', parameters, border }]);
        const image = noiseImage(size, seed, levels, pipeline.input.length);
        const { item, bytes } = staged(pipeline, image, tile, grid);
        const [ours, reference] = [runCpu, runReference].map((run) => run(pipeline, bytes, item, withMap));
        verifyBins(ours!.bins, reference!.bins, pipeline);
        assert.equal(ours!.counted, reference!.counted);
        if (withMap) verifySamples(samplesOf(pipeline, ours!, tile), samplesOf(pipeline, reference!, tile), pipeline);
        else assert.equal(ours!.map, undefined);
      },
    ),
    { numRuns: runs(400) },
  );
});

test('the counts of tiles, for pixels of either type, fit their results, and are the same without a map', () => {
  fc.assert(
    fc.property(
      tileArbitrary(40, 20),
      convArbitrary,
      fc.constantFrom(...borderModes),
      fc.constantFrom<PixelType[]>('u8', 'u16'),
      ({ size, tile, seed, levels }, { parameters }, border, type) => {
        const pipeline = createPipelineOver(type, [{ kernel: 'conv', parameters, border }]);
        const { item, bytes } = staged(pipeline, noiseFor(pipeline, size, seed, levels), tile);
        const result = runCpu(pipeline, bytes, item, true);
        const counts = countSamples(samplesOf(pipeline, result, tile), result.counted, pipeline);
        if (type === 'u8' || pipeline.binning!.isExact) assert.deepEqual([...result.bins], counts);
        else verifyBins(result.bins, counts, pipeline);
        assert.deepEqual(runCpu(pipeline, bytes, item, false).bins, result.bins);
      },
    ),
    { numRuns: runs(400) },
  );
});

for (const [name, run] of Object.entries({ reference: runReference, cpu: runCpu })) {
  test(`${name}: tiles of every size equal the whole image, bit for bit`, () => {
    fc.assert(
      fc.property(
        tileArbitrary(60, 24),
        convArbitrary,
        fc.constantFrom(...borderModes),
        ({ size, tile, seed }, { parameters }, border) => {
          const pipeline = createPipeline([{ kernel: 'conv', parameters, border }]);
          const image = noiseImage(size, seed, 256, pipeline.input.length);
          const samplesIn = (rect: typeof tile) => {
            const { item, bytes } = staged(pipeline, image, rect);
            return samplesOf(pipeline, run(pipeline, bytes, item, true), rect);
          };
          const whole = samplesIn({ x: 0, y: 0, ...size });
          const part = samplesIn(tile);
          for (let row = 0; row < tile.height * pipeline.input.length; row++) {
            const band = Math.floor(row / tile.height);
            const at = (band * size.height + tile.y + (row % tile.height)) * size.width + tile.x;
            const from = row * tile.width;
            assert.deepEqual(part.subarray(from, from + tile.width), whole.subarray(at, at + tile.width));
          }
        },
      ),
      { numRuns: runs(150) },
    );
  });
}

test('images wider, higher and larger than a band equal the reference', () => {
  for (const size of [
    { width: 100_000, height: 4 },
    { width: 1, height: 50_000 },
    { width: 1000, height: 300 },
  ]) {
    for (const as of ['f32', 'u8']) {
      const pipeline = createPipeline([{ kernel: 'conv', parameters: { kernel: 'box-7', as }, border: 'mirror' }]);
      const { item, bytes } = staged(pipeline, noiseImage(size, 5));
      assert.deepEqual(runCpu(pipeline, bytes, item, true), runReference(pipeline, bytes, item, true));
    }
  }
});
