import test, { before } from 'node:test';
import type { NodeDevice } from './device.ts';
import { sharedDevice } from './testing/shared-device.ts';
import { type TestVariant, verifyAgainstReference } from './testing/verify-against-reference.ts';

// One program counts the results of all kernels without excluded pixels: here with each type of results, private and
// shared bins, several channels, cells, and with and without maps.

let device: NodeDevice;
before(async () => {
  device = await sharedDevice();
});

const conv = (kernel: string, as: string, channels = 'gray') => ({
  kernel: 'conv',
  parameters: { kernel, as, channels },
});
const grid = { rows: 3, columns: 2 };

const results: TestVariant[] = [
  { operations: [{ kernel: 'lbp', parameters: {} }], withMap: false },
  { operations: [{ kernel: 'lbp', parameters: { points: '16', radius: '2' } }], withMap: true, grid },
  { operations: [{ kernel: 'lbp', parameters: { labels: 'var' } }], withMap: true },
  { operations: [{ kernel: 'ldp', parameters: { order: '2' } }], withMap: true, grid },
  { operations: [conv('sobel-x', 'i16', 'rgb')], withMap: true, pixel: 'u16' },
  { operations: [conv('gaussian-5', 'f32')], withMap: true, grid },
  {
    operations: [
      conv('box-3', 'u8'),
      { kernel: 'glcm', parameters: { levels: '32', offsets: '1@0+2@135', symmetric: 'true' } },
    ],
    withMap: false,
  },
];
const variants = results.map((variant): TestVariant => ({ ...variant, excludes: true }));

test('batches of tiles, some with pixels that do not count, equal the reference', async () => {
  await verifyAgainstReference(device, variants, { gpu: 500, software: 40 });
});
