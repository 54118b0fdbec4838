import assert from 'node:assert/strict';
import test from 'node:test';
import type { PixelType } from '@halogrid/geometry';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { runCpu } from '../cpu.ts';
import { borderModes } from '../kernel/border.ts';
import { runReference } from '../reference.ts';
import { createPipelineOver, noiseFor, staged, tileArbitrary } from '../testing/index.ts';
import { glcmArbitrary } from './testing/arbitrary.ts';

test('tiles of any size, place, border and parameters equal the reference', () => {
  fc.assert(
    fc.property(
      tileArbitrary(120, 40),
      fc.constantFrom(...borderModes),
      glcmArbitrary,
      fc.boolean(),
      fc.constantFrom<PixelType[]>('u8', 'u16'),
      ({ size, tile, seed, levels }, border, parameters, withMap, pixel) => {
        const pipeline = createPipelineOver(pixel, [{ kernel: 'glcm', parameters, border }]);
        const { item, bytes } = staged(pipeline, noiseFor(pipeline, size, seed, levels), tile);
        assert.deepEqual(runCpu(pipeline, bytes, item, withMap), runReference(pipeline, bytes, item, withMap));
      },
    ),
    { numRuns: runs(500) },
  );
});

test('images wider, higher and larger than the part computed at once equal the reference', () => {
  for (const size of [
    { width: 140_000, height: 3 },
    { width: 1, height: 140_000 },
    { width: 640, height: 360 },
  ]) {
    for (const pixel of ['u8', 'u16'] as const) {
      const pipeline = createPipelineOver(pixel, [{ kernel: 'glcm', parameters: { offsets: '2@0+9@225+1@90' } }]);
      const { item, bytes } = staged(pipeline, noiseFor(pipeline, size, 5));
      assert.deepEqual(runCpu(pipeline, bytes, item, true), runReference(pipeline, bytes, item, true));
    }
  }
});
