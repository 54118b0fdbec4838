import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import type { Samples } from '@halogrid/kernels/testing';
import { checkAgainstTwin, type TwinVariant } from './check-against-twin.ts';
import type { Device } from './device.ts';
import { openWebGpuDevice } from './webgpu-device.ts';

// The same suite runs on a real GPU with HALOGRID_TEST_DEVICE=gpu.
const kind = process.env.HALOGRID_TEST_DEVICE === 'gpu' ? 'gpu' : 'software';
let device: Device;
before(async () => {
  device = await openWebGpuDevice(kind);
});
after(() => device.close());

const lbp = (text: string, border?: string) => {
  const parameters = Object.fromEntries(text.split(' ').map((pair) => pair.split('=')));
  return { kernel: 'lbp', parameters, border };
};

/** Every ring, label, border, type of sample and place of the histogram; not all products, which would compile for minutes. */
const variants: TwinVariant[] = [
  { operations: [lbp('points=16 radius=2 labels=uniform')], withMap: true },
  { operations: [lbp('points=12 radius=1.5', 'reflect')], withMap: true, grid: { rows: 2, columns: 3 } },
  { operations: [lbp('points=24 radius=3 labels=nri-uniform')], withMap: true },
  { operations: [lbp('points=20 radius=2.5 labels=ror', 'wrap')], withMap: true },
  { operations: [lbp('points=16 radius=2 labels=var')], withMap: true },
  { operations: [lbp('convention=opencv points=10 radius=16', 'replicate')], withMap: false },
  { operations: [lbp('convention=bob labels=nri-uniform', 'mirror')], withMap: true },
  { operations: [lbp('convention=bob-circular points=8 radius=2 labels=uniform')], withMap: false },
  { operations: [lbp('convention=mahotas points=8 radius=0.5')], withMap: true },
];

test('batches of tiles of any size, place and border equal the CPU twin', async () => {
  await checkAgainstTwin(device, variants, kind === 'gpu' ? 1000 : 60, checkSamples);
});

/** Labels are equal; variances are rounded on the way. */
function checkSamples(ours: Samples, twin: Samples): void {
  if (!(twin instanceof Float32Array)) {
    assert.deepEqual(ours, twin);
    return;
  }
  twin.forEach((value, i) => {
    const isClose = Number.isNaN(value) ? Number.isNaN(ours[i]!) : Math.abs(ours[i]! - value) <= 1e-5 * value;
    assert.ok(isClose, `${ours[i]} is not ${value}`);
  });
}
