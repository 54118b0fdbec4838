import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { borderModes, createPipeline, runReference } from '@halogrid/kernels';
import { noiseImage, samplesOf, staged } from '@halogrid/kernels/testing';
import type { NodeDevice } from './device.ts';
import { sharedDevice } from './testing/shared-device.ts';
import { runOne, type TestVariant, verifyAgainstReference } from './testing/verify-against-reference.ts';

let device: NodeDevice;
before(async () => {
  device = await sharedDevice();
});

const glcm = (levels: number, offsets: string, border = 'interior', symmetric = 'false') => ({
  kernel: 'glcm',
  parameters: { levels: `${levels}`, offsets, symmetric },
  border,
});

/** Every border; codes of one byte and of two; offsets that fit one workgroup, and that need several. */
const variants: TestVariant[] = [
  ...borderModes.map((border, i) => ({
    operations: [glcm([8, 32, 64][i % 3]!, ['1@0+5@225', '1@0+1@45+1@90+1@135', '2@315'][i % 3]!, border)],
    withMap: i % 5 !== 0,
  })),
  { operations: [glcm(40, '1@0+3@45+1@90+1@135', 'interior', 'true')], withMap: true, grid: { rows: 3, columns: 2 } },
];

test('batches of tiles of any size, place and border equal the reference', async () => {
  await verifyAgainstReference(device, variants, { gpu: 500, software: 40 });
});

test('images of several workgroups in both directions equal the reference', async () => {
  const pipeline = createPipeline([glcm(32, '1@0+17@180+64@90+3@135')]);
  const size = { width: 407, height: 201 };
  for (const levels of [1, 3, 256]) {
    const tile = { x: levels % 2, y: 0, width: size.width - 2, height: size.height };
    const { item, bytes } = staged(pipeline, noiseImage(size, levels, levels), tile);
    const [ours, reference] = [await runOne(device, pipeline, bytes, item), runReference(pipeline, bytes, item, true)];
    assert.deepEqual(ours.bins, reference.bins);
    assert.equal(ours.counted, reference.counted);
    assert.deepEqual(samplesOf(pipeline, ours, tile), samplesOf(pipeline, reference, tile));
  }
});
