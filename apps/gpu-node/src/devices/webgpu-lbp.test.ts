import test, { before } from 'node:test';
import type { NodeDevice } from './device.ts';
import { sharedDevice } from './testing/shared-device.ts';
import { type TestVariant, verifyAgainstReference } from './testing/verify-against-reference.ts';

let device: NodeDevice;
before(async () => {
  device = await sharedDevice();
});

const lbp = (text: string, border?: string) => {
  const parameters = Object.fromEntries(text.split(' ').map((pair) => pair.split('=')));
  return { kernel: 'lbp', parameters, border };
};

/**
 * Every ring, label, border, type of sample and place of the histogram. Not all combinations, which would take minutes
 * to compile.
 */
const variants: TestVariant[] = [
  { operations: [lbp('points=16 radius=2 labels=uniform')], withMap: true },
  { operations: [lbp('points=12 radius=1.5', 'reflect')], withMap: true, grid: { rows: 2, columns: 3 } },
  { operations: [lbp('points=24 radius=3 labels=nri-uniform')], withMap: true },
  { operations: [lbp('points=20 radius=2.5 labels=ror', 'wrap')], withMap: true },
  { operations: [lbp('points=16 radius=2 labels=var')], withMap: true },
  { operations: [lbp('convention=opencv points=10 radius=16', 'replicate')], withMap: false },
  { operations: [lbp('convention=bob labels=nri-uniform', 'mirror')], withMap: true },
  { operations: [lbp('convention=bob-circular points=8 radius=2 labels=uniform')], withMap: false },
  { operations: [{ kernel: 'lbp', parameters: {}, border: 'wrap' }], withMap: false, grid: { rows: 2, columns: 3 } },
  { operations: [lbp('convention=mahotas points=8 radius=0.5')], withMap: true },
];

test('batches of tiles of any size, place and border equal the reference', async () => {
  await verifyAgainstReference(device, variants, { gpu: 1000, software: 60 });
});
