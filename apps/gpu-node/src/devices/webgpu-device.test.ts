import assert from 'node:assert/strict';
import test, { before } from 'node:test';
import { borderModes, createPipeline, runReference } from '@halogrid/kernels';
import { noiseImage, samplesOf, staged } from '@halogrid/kernels/testing';
import type { NodeDevice } from './device.ts';
import { sharedDevice } from './testing/shared-device.ts';
import { runOne, type TestVariant, testedKind, verifyAgainstReference } from './testing/verify-against-reference.ts';
import { openWebGpuDevice } from './webgpu-device.ts';

let device: NodeDevice;
before(async () => {
  device = await sharedDevice();
});

const lbp = (convention: string, border: string) => ({ kernel: 'lbp', parameters: { convention }, border });

/**
 * Every border, and every pair of the other two. Not all combinations, because SwiftShader takes half a second to
 * compile each.
 */
const variants: TestVariant[] = [
  ...borderModes.map((border, i) => {
    return { operations: [lbp(i % 2 === 0 ? 'nw-cw-msb' : 'nw-cw-lsb', border)], withMap: border !== 'reflect' };
  }),
  { operations: [lbp('nw-cw-lsb', 'interior')], withMap: false, grid: { rows: 3, columns: 2 } },
  {
    operations: [lbp('nw-cw-msb', 'mirror'), lbp('nw-cw-msb', 'interior')],
    withMap: true,
    grid: { rows: 2, columns: 5 },
  },
];

test('batches of tiles of any size, place and border equal the reference', async () => {
  await verifyAgainstReference(device, variants, { gpu: 500, software: 70 });
});

test('large frames, flat and random, are counted exactly, several batches in flight', async () => {
  const pipeline = createPipeline([lbp('nw-cw-msb', 'zero')]);
  // SwiftShader takes two thirds of a second for a frame of full size. A bin of these has more than 16 bits, too.
  const size = testedKind === 'gpu' ? { width: 1920, height: 1080 } : { width: 640, height: 360 };
  // More than can be in flight at once.
  const seeds = testedKind === 'gpu' ? [1, 2, 3, 4, 5, 6] : [1, 2, 3];
  await Promise.all(
    seeds.map(async (seed) => {
      const { item, bytes } = staged(pipeline, noiseImage(size, seed, seed === 1 ? 1 : 256));
      const staging = await device.acquire(bytes.length);
      staging.bytes.set(bytes);
      const { items, seconds } = await device.run(staging, [item], pipeline, false);
      assert.deepEqual(items[0]!.bins, runReference(pipeline, bytes, item, false).bins);
      assert.ok(seconds.compute > 0);
    }),
  );
});

test('dense results have memory of their own, which is used again once it is given back', async () => {
  const pipeline = createPipeline([lbp('nw-cw-msb', 'zero')]);
  const size = { width: 97, height: 61 };
  const run = async (seed: number) => {
    const image = noiseImage(size, seed);
    const { item, bytes } = staged(pipeline, image);
    const staging = await device.acquire(bytes.length);
    staging.bytes.set(bytes);
    const { items, release } = await device.run(staging, [item], pipeline, true);
    const samples = () => samplesOf(pipeline, items[0]!, image);
    assert.deepEqual(samples(), samplesOf(pipeline, runReference(pipeline, bytes, item, true), image));
    return { memory: items[0]!.map!.bytes.buffer, samples, release: release! };
  };
  const first = await run(1);
  const before = first.samples();
  const second = await run(2);
  assert.deepEqual(first.samples(), before);
  first.release();
  const third = await run(3);
  assert.notEqual(second.memory, first.memory);
  assert.equal(third.memory, first.memory);
});

test('a grid of more cells than one dispatch takes has the histogram of each', async () => {
  const pipeline = createPipeline([lbp('nw-cw-lsb', 'interior')]);
  const { item, bytes } = staged(pipeline, noiseImage({ width: 97, height: 61 }, 3), undefined, {
    rows: 61,
    columns: 40,
  });
  assert.equal(item.parts.length, 2440);
  const { bins } = await runOne(device, pipeline, bytes, item, false);
  assert.deepEqual(bins, runReference(pipeline, bytes, item, false).bins);
});

test('a dense result without counts, and neither of them', async () => {
  const uncounted = { ...createPipeline([lbp('nw-cw-msb', 'zero')]), bins: 0 };
  const size = { width: 37, height: 21 };
  const { item, bytes } = staged(uncounted, noiseImage(size, 5));
  for (const withMap of [true, false]) {
    const result = await runOne(device, uncounted, bytes, item, withMap);
    assert.deepEqual([result.counted, result.bins], [37 * 21, new Uint32Array(0)]);
    if (!withMap) assert.equal(result.map, undefined);
    else {
      const reference = runReference(uncounted, bytes, item, true);
      assert.deepEqual(samplesOf(uncounted, result, size), samplesOf(uncounted, reference, size));
    }
  }
});

test('kept staging memory serves further pipelines, and the next batch has its own planes', async () => {
  const [first, second] = [lbp('nw-cw-msb', 'zero'), lbp('nw-cw-msb', 'reflect')].map((asked) =>
    createPipeline([asked]),
  );
  for (const seed of [1, 2]) {
    const { item, bytes } = staged(first!, noiseImage({ width: 33, height: 21 }, seed));
    const staging = await device.acquire(bytes.length);
    staging.bytes.set(bytes);
    for (const pipeline of [first!, second!]) {
      const { items } = await device.run(staging, [item], pipeline, false, pipeline === first);
      assert.deepEqual(items[0]!.bins, runReference(pipeline, bytes, item, false).bins);
    }
  }
});

test('staging that was released without computing serves again', async () => {
  for (let i = 0; i < 3 * device.batchesInFlight; i++) (await device.acquire(1000)).release();
  const staging = await device.acquire(1000);
  assert.ok(staging.bytes.length >= 1000);
  staging.release();
});

test('waiting and later calls reject once the device is closed', async () => {
  const closing = await openWebGpuDevice(testedKind);
  const pipeline = createPipeline([lbp('nw-cw-msb', 'zero')]);
  const { item, bytes } = staged(pipeline, noiseImage({ width: 9, height: 9 }, 1));
  const end = bytes.length;
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
