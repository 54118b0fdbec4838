import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleBytes } from '@halogrid/geometry';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { createPipeline, pipelineOver } from '../pipeline/pipeline.ts';
import { placeItem, planPipeline } from '../pipeline/pipeline-item.ts';
import type { ComputeDevice } from './compute-device.ts';
import { computePicture, largestTileSide } from './run-pipeline.ts';
import { operationsArbitrary, pictureArbitrary } from './testing/arbitrary.ts';
import { ThreadDevice } from './thread-device.ts';

const whole = new ThreadDevice('wasm', 'A test asks for it.');

/** The same device with a smaller limit. */
const limited = (mostBytes: number): ComputeDevice => ({
  on: 'wasm',
  name: whole.name,
  reason: whole.reason,
  mostBytes,
  close: () => {},
  compute: (work) => whole.compute(work),
});

test('a picture computed in tiles has the same result as the whole picture', async () => {
  await fc.assert(
    fc.asyncProperty(
      pictureArbitrary(60),
      operationsArbitrary,
      fc.integer({ min: 1, max: 30 }),
      async (picture, { asked }, side) => {
        const pipeline = createPipeline(asked);
        const grid = pipeline.bins > 0 ? { rows: 2, columns: 3 } : undefined;
        const over = pipelineOver(picture.data instanceof Uint16Array ? 'u16' : 'u8', pipeline);
        let mostBytes = 1;
        while (largestTileSide(over, mostBytes) < side) mostBytes = Math.ceil(mostBytes * 1.1);
        const inTiles = await computePicture(pipeline, picture, { device: limited(mostBytes), grid });
        assert.deepEqual(inTiles, await computePicture(pipeline, picture, { device: whole, grid }));
      },
    ),
    { numRuns: repeated(60) },
  );
});

test('neither the planes of a tile nor its map exceed the limit of a device', () => {
  fc.assert(
    fc.property(
      operationsArbitrary,
      fc.constantFrom('u8' as const, 'u16' as const),
      fc.integer({ min: 2 ** 16, max: 2 ** 28 }),
      ({ asked }, pixel, mostBytes) => {
        const pipeline = pipelineOver(pixel, createPipeline(asked));
        const side = largestTileSide(pipeline, mostBytes);
        assert.ok(side > 0);
        const image = { width: 4 * side, height: 4 * side };
        const plan = planPipeline(pipeline, { x: side, y: side, width: side, height: side }, image);
        const { end } = placeItem(plan, pipeline.input.length, 0, sampleBytes[pixel]);
        const { sample, channels } = pipeline.output;
        assert.ok(end <= mostBytes);
        assert.ok((side + 32) * side * channels.length * sampleBytes[sample] <= mostBytes);
      },
    ),
  );
});
