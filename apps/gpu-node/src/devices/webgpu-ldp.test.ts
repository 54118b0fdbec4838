import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { borderModes, createPipeline, runReference } from '@halogrid/kernels';
import { noiseImage, samplesOf, staged } from '@halogrid/kernels/testing';
import { sampled } from '@halogrid/testing';
import type { NodeDevice } from './device.ts';
import { sharedDevice } from './testing/shared-device.ts';
import { runOne, type TestVariant, verifyAgainstReference } from './testing/verify-against-reference.ts';

let device: NodeDevice;
before(async () => {
  device = await sharedDevice();
});

const ldp = (order: number, border: string) => ({ kernel: 'ldp', parameters: { order: `${order}` }, border });

/**
 * Every border, and the lowest, the default and the highest order. Not all combinations, because SwiftShader takes 1.5
 * s to compile each.
 */
const variants: TestVariant[] = [
  ...borderModes.map((border, i) => ({ operations: [ldp([2, 3, 6][i % 3]!, border)], withMap: i % 5 !== 0 })),
  { operations: [ldp(3, 'interior')], withMap: true, grid: { rows: 3, columns: 2 } },
];

test('batches of tiles of any size, place and border equal the reference', async () => {
  await verifyAgainstReference(device, variants, { gpu: 500, software: 60 });
});

test('images of several workgroups in both directions equal the reference', async () => {
  for (const operation of sampled([ldp(6, 'replicate'), ldp(3, 'mirror')], 1)) {
    const pipeline = createPipeline([operation]);
    const size = { width: 407, height: 201 };
    for (const levels of [1, 3, 256]) {
      const tile = { x: levels % 2, y: 0, width: size.width - 2, height: size.height };
      const { item, bytes } = staged(pipeline, noiseImage(size, levels, levels), tile);
      const [ours, reference] = [
        await runOne(device, pipeline, bytes, item),
        runReference(pipeline, bytes, item, true),
      ];
      assert.deepEqual(ours.bins, reference.bins, JSON.stringify(operation));
      assert.deepEqual(samplesOf(pipeline, ours, tile), samplesOf(pipeline, reference, tile));
    }
  }
});
