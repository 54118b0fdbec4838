import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type BorderMode, createPipeline, type PlaneItem, placeItem, planRead, runReference } from '@halogrid/kernels';
import fc from 'fast-check';
import type { Device } from './device.ts';
import { openWebGpuDevice } from './webgpu-device.ts';

// The same suite runs on a real GPU with HALOGRID_TEST_DEVICE=gpu.
const kind = process.env.HALOGRID_TEST_DEVICE === 'gpu' ? 'gpu' : 'software';
let device: Device;
before(async () => {
  device = await openWebGpuDevice(kind);
});
after(() => device.close());

const tile = fc.record({
  width: fc.integer({ min: 1, max: 90 }),
  height: fc.integer({ min: 1, max: 40 }),
  left: fc.nat(89),
  top: fc.nat(39),
  tileWidth: fc.integer({ min: 1, max: 90 }),
  tileHeight: fc.integer({ min: 1, max: 40 }),
  levels: fc.constantFrom(1, 3, 256),
});
type Tile = typeof tile extends fc.Arbitrary<infer T> ? T : never;

/** Every border, and every pair of the other two; not all 24, because SwiftShader compiles each for half a second. */
const variants = [
  ['zero', 'nw-cw-msb', true],
  ['replicate', 'nw-cw-lsb', true],
  ['reflect', 'nw-cw-msb', false],
  ['mirror', 'nw-cw-lsb', true],
  ['wrap', 'nw-cw-msb', true],
  ['interior', 'nw-cw-msb', true],
  ['interior', 'nw-cw-lsb', false],
] as const;

test('batches of tiles of any size, place and border equal the CPU twin', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(tile, { minLength: 1, maxLength: 6 }),
      fc.constantFrom(...variants),
      fc.integer(),
      async (tiles, [border, convention, withMap], seed) => {
        const pipeline = createPipeline([{ kernel: 'lbp', parameters: { convention } }], border);
        const { items, bytes } = layOut(tiles, border);
        const staged = noise(bytes, seed, tiles);
        const staging = await device.acquire(bytes);
        staging.bytes.set(staged);
        const result = await device.run(staging, items, pipeline, withMap);
        items.forEach((item, i) => {
          const twin = runReference(pipeline, staged, item, withMap);
          const ours = result.items[i]!;
          assert.equal(ours.counted, twin.counted);
          assert.deepEqual(ours.bins, twin.bins);
          for (let y = 0; withMap && y < item.out.height; y++) {
            assert.deepEqual(
              ours.map!.subarray(y * ours.mapStride!, y * ours.mapStride! + item.out.width),
              twin.map!.subarray(y * twin.mapStride!, y * twin.mapStride! + item.out.width),
              `row ${y} of item ${i}`,
            );
          }
        });
      },
    ),
    { numRuns: kind === 'gpu' ? 500 : 60 },
  );
});

test('flat and random frames of full size are counted exactly, several batches in flight', async () => {
  const pipeline = createPipeline([{ kernel: 'lbp', parameters: {} }], 'zero');
  const size = { width: 1920, height: 1080 };
  await Promise.all(
    [0, 1, 2, 3, 4, 5].map(async (seed) => {
      const { item, end } = placeItem(planRead({ x: 0, y: 0, ...size }, size, 1, 'zero'), 0);
      const staged = seed === 0 ? new Uint8Array(end) : noise(end, seed, [{ levels: 256 }]);
      const staging = await device.acquire(end);
      staging.bytes.set(staged);
      const { items, seconds } = await device.run(staging, [item], pipeline, false);
      assert.deepEqual(items[0]!.bins, runReference(pipeline, staged, item, false).bins);
      assert.ok(seconds.compute > 0);
    }),
  );
});

test('staging that was released without computing serves again', async () => {
  for (let i = 0; i < 3 * device.batchesInFlight; i++) (await device.acquire(1000)).release();
  const staging = await device.acquire(1000);
  assert.ok(staging.bytes.length >= 1000);
  staging.release();
});

test('what waits for a device that is closed is told so, and so is what comes later', async () => {
  const closing = await openWebGpuDevice(kind);
  const pipeline = createPipeline([{ kernel: 'lbp', parameters: {} }], 'zero');
  const { item, end } = placeItem(planRead({ x: 0, y: 0, width: 9, height: 9 }, { width: 9, height: 9 }, 1, 'zero'), 0);
  const taken = await Promise.all(Array.from({ length: closing.batchesInFlight }, () => closing.acquire(end)));
  const waiting = closing.acquire(end);
  const running = closing.run(taken[0]!, [item], pipeline, false);
  await Promise.all([
    assert.rejects(waiting, /The device was lost: it was closed/),
    assert.rejects(running, /The device was lost: it was closed/),
    closing.close(),
  ]);
  await assert.rejects(closing.acquire(end), /The device was lost: it was closed/);
});

test('more than the largest buffer is refused', async () => {
  await assert.rejects(device.acquire(device.maxStagingBytes + 1), /do not fit the device's largest buffer/);
});

function layOut(tiles: Tile[], border: BorderMode): { items: PlaneItem[]; bytes: number } {
  const items: PlaneItem[] = [];
  let bytes = 0;
  for (const t of tiles) {
    const x = t.left % t.width;
    const y = t.top % t.height;
    const rect = { x, y, width: Math.min(t.tileWidth, t.width - x), height: Math.min(t.tileHeight, t.height - y) };
    const placed = placeItem(planRead(rect, t, 1, border), bytes);
    items.push(placed.item);
    bytes = placed.end;
  }
  return { items, bytes };
}

/** Seeded bytes; padding included, so that a kernel that reads it is caught. */
function noise(length: number, seed: number, tiles: { levels: number }[]): Uint8Array {
  let state = seed | 1;
  const { levels } = tiles[0]!;
  return Uint8Array.from({ length }, () => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return ((state >>> 8) & 0xff) % levels;
  });
}
