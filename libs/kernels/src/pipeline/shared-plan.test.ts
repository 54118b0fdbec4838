import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PixelType, sampleBytes } from '@halogrid/geometry';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { borderModes } from '../kernel/border.ts';
import type { AskedOperation } from '../kernel/operation.ts';
import { runReference } from '../reference.ts';
import { createPipelineOver, noise, noiseFor, samplesOf, staged } from '../testing/index.ts';
import { placeSharedItem, planPipelines } from './shared-plan.ts';

const kernels: AskedOperation[][] = [
  [{ kernel: 'lbp', parameters: {} }],
  [{ kernel: 'lbp', parameters: { points: '16', radius: '2' } }],
  [{ kernel: 'ldp', parameters: { order: '4' } }],
  [
    { kernel: 'conv', parameters: { kernel: 'gaussian-5', as: 'u8' } },
    { kernel: 'lbp', parameters: {} },
  ],
];
const set = fc.array(fc.nat(kernels.length - 1), { minLength: 1, maxLength: 4 });
const tiles = fc.record({
  x: fc.nat(60),
  y: fc.nat(30),
  width: fc.integer({ min: 1, max: 50 }),
  height: fc.integer({ min: 1, max: 30 }),
});
const size = { width: 61, height: 31 };

test('property: each of several pipelines has the same result from shared planes as from its own', () => {
  fc.assert(
    fc.property(
      set,
      tiles,
      fc.constantFrom(...borderModes),
      fc.constantFrom<PixelType[]>('u8', 'u16'),
      fc.nat(700),
      fc.option(fc.nat(2), { nil: undefined }),
      (chosen, asked, border, pixel, from, more) => {
        const pipelines = chosen.map((i) =>
          createPipelineOver(
            pixel,
            kernels[i]!.map((operation) => ({ ...operation, border })),
          ),
        );
        const image = noiseFor(pipelines[0]!, size, 5);
        const width = Math.min(asked.width, size.width - asked.x);
        const tile = { ...asked, width, height: Math.min(asked.height, size.height - asked.y) };
        const plan = planPipelines(pipelines, tile, size);
        const unit = sampleBytes[pixel];
        // Rows as a decoder has them: without room for pixels before the first one.
        const stride = more === undefined ? undefined : 16 * unit * (Math.ceil(plan.stored.width / 16) + more);
        const { item, end } = placeSharedItem(plan, 1, from, unit, stride);
        const bytes = noise(end, 977);
        const pixels = new Uint8Array(image.pixels.buffer, image.pixels.byteOffset, image.pixels.byteLength);
        for (const { from: source, to } of plan.copies) {
          for (let row = 0; row < source.height; row++) {
            const at = ((source.y + row) * size.width + source.x) * unit;
            const target = item.offset + (to.y + row) * item.stride + to.x * unit;
            bytes.set(pixels.subarray(at, at + source.width * unit), target);
          }
        }
        for (const [i, pipeline] of pipelines.entries()) {
          const own = staged(pipeline, image, tile);
          const expected = runReference(pipeline, own.bytes, own.item, true);
          const found = runReference(pipeline, bytes, item.items[i]!, true);
          assert.deepEqual([found.counted, found.bins], [expected.counted, expected.bins]);
          assert.deepEqual(samplesOf(pipeline, found, tile), samplesOf(pipeline, expected, tile));
        }
      },
    ),
    { numRuns: runs(100) },
  );
});
