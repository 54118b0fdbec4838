import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { parseOperation, runReference } from '@halogrid/kernels';
import { createPipelineOver, noiseFor, samplesOf, staged, verifySamples } from '@halogrid/kernels/testing';
import type { NodeDevice } from './device.ts';
import { sharedDevice } from './testing/shared-device.ts';
import { runOne, type TestVariant, verifyAgainstReference } from './testing/verify-against-reference.ts';

let device: NodeDevice;
before(async () => {
  device = await sharedDevice();
});

const deep = (op: string, border: string, others: Partial<TestVariant> = {}): TestVariant => {
  return { operations: [{ ...parseOperation(op), border }], withMap: true, pixel: 'u16', ...others };
};

const conv = (entry: (i: number, j: number) => number, side: number, as: string, border: string): TestVariant => {
  const matrix = Array.from({ length: side }, (_, i) => Array.from({ length: side }, (_, j) => entry(i, j)));
  const parameters = { matrix: JSON.stringify(matrix), as };
  return { operations: [{ kernel: 'conv', parameters, border }], withMap: true, pixel: 'u16' };
};

/**
 * Each program, and each way to make sums. Not all combinations, because SwiftShader takes a second to compile each.
 */
const variants: TestVariant[] = [
  deep('lbp', 'mirror'),
  deep('lbp:points=16,radius=2,labels=uniform', 'zero', { grid: { rows: 2, columns: 3 } }),
  deep('lbp:points=12,radius=1.5', 'wrap'),
  deep('lbp:points=10,radius=0.3,labels=var', 'reflect'),
  deep('lbp:convention=mahotas,points=9,radius=2.25', 'interior', { withMap: false }),
  deep('ldp:order=2', 'replicate'),
  deep('ldp:order=6', 'interior', { withMap: false }),
  deep('conv:kernel=sobel-x', 'zero'),
  deep('conv:kernel=sobel', 'reflect'),
  deep('conv:kernel=sobel,as=i16', 'wrap'),
  deep('conv:kernel=gaussian-5,as=u8,channels=rgb', 'mirror', { withMap: false }),
  deep('conv:kernel=gaussian-9', 'interior'),
  // Shifts of 34, 20, 17 and 13 digits, and integers of 29 bits.
  conv((i, j) => (((i * 3 + j * 7) % 9) - 4) / 64, 3, 'i16', 'zero'),
  conv((i, j) => (((i * 3 + j * 7) % 9) - 4) * 700.125, 3, 'i16', 'mirror'),
  conv((i, j) => (((i * 3 + j * 7) % 9) - 4) * 7000.5, 3, 'i16', 'mirror'),
  conv((i, j) => (((i * 3 + j * 7) % 9) - 4) * 100_000.5, 3, 'i16', 'mirror'),
  conv((i, j) => ((i * 3 + j * 7) % 9) * 200 - 800, 3, 'f32', 'replicate'),
];

test('batches of 16-bit tiles of any size, place, border and kernel equal the reference', async () => {
  await verifyAgainstReference(device, variants, { gpu: 1000, software: 120 });
});

test('16-bit images of several workgroups in both directions equal the reference', async () => {
  const size = { width: 407, height: 201 };
  // The first and the last are programs of variants.
  for (const [op, border] of [
    ['lbp', 'mirror'],
    ['ldp', 'mirror'],
    ['conv:kernel=sobel,as=i16', 'wrap'],
  ] as const) {
    const pipeline = createPipelineOver('u16', [{ ...parseOperation(op), border }]);
    const tile = { x: 1, y: 0, width: size.width - 2, height: size.height };
    const { item, bytes } = staged(pipeline, noiseFor(pipeline, size, 3), tile);
    const [ours, reference] = [await runOne(device, pipeline, bytes, item), runReference(pipeline, bytes, item, true)];
    assert.deepEqual(ours.bins, reference.bins);
    verifySamples(samplesOf(pipeline, ours, tile), samplesOf(pipeline, reference, tile), pipeline);
  }
});
