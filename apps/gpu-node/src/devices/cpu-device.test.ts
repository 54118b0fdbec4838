import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createPipeline, type PlaneItem, placeItem, planRead, runReference } from '@halogrid/kernels';
import { CpuDevice, type CpuDeviceOptions } from './cpu-device.ts';
import { type Device, DeviceLostError } from './device.ts';

const pipeline = createPipeline([{ kernel: 'lbp', parameters: {} }], 'mirror');

async function withDevice(options: CpuDeviceOptions, use: (device: Device) => Promise<void>): Promise<void> {
  const device = new CpuDevice(options);
  try {
    await use(device);
  } finally {
    await device.close();
  }
}

/** Frames of `count` sizes in one buffer, filled with a pattern that depends on `seed`. */
function createBatch(count: number, seed: number): { items: PlaneItem[]; fill: (bytes: Uint8Array) => void } {
  const items: PlaneItem[] = [];
  for (let i = 0, end = 0; i < count; i++) {
    const size = { width: 1 + ((i * 13 + seed) % 40), height: 1 + ((i * 7) % 30) };
    const placed = placeItem(planRead({ x: 0, y: 0, ...size }, size, 1, 'mirror'), end);
    items.push(placed.item);
    end = placed.end;
  }
  const fill = (bytes: Uint8Array) => {
    for (let i = 0; i < bytes.length; i++) bytes[i] = (Math.imul(i + seed, 2654435761) >>> 13) & 255;
  };
  return { items, fill };
}

test('batches that run at the same time each equal the CPU twin, maps included', async () => {
  await withDevice({ threads: 2 }, async (device) => {
    const batches = Array.from({ length: 9 }, async (_, seed) => {
      const { items, fill } = createBatch(12, seed);
      const staging = await device.acquire(12 * 2048);
      fill(staging.bytes);
      const copy = staging.bytes.slice();
      const { items: results } = await device.run(staging, items, pipeline, true);
      assert.deepEqual(
        results,
        items.map((item) => runReference(pipeline, copy, item, true)),
      );
    });
    await Promise.all(batches);
  });
});

test('staging memory is waited for when too much of it is out', async () => {
  await withDevice({ threads: 1, stagingBytes: 8 * 2 ** 20 }, async (device) => {
    const first = await device.acquire(2 ** 20);
    const second = await device.acquire(2 ** 20);
    let isThere = false;
    const third = device.acquire(2 ** 20).then((staging) => {
      isThere = true;
      return staging;
    });
    await turn();
    assert.equal(isThere, false);
    await device.run(first, [], pipeline, false);
    (await third).release();
    second.release();
  });
});

test('staging memory is used again', async () => {
  await withDevice({ threads: 1 }, async (device) => {
    const first = await device.acquire(100);
    first.bytes[0] = 77;
    await device.run(first, [], pipeline, false);
    const second = await device.acquire(100);
    assert.equal(second.bytes[0], 77);
    second.release();
  });
});

test('a thread that crashes fails its batch as a lost device does, and is replaced', async () => {
  const program = new URL('./crashing-worker.ts', import.meta.url);
  await withDevice({ threads: 1, program }, async (device) => {
    const crash = device.run(await device.acquire(1), [], { ...pipeline, convention: 'crash' }, false);
    await assert.rejects(crash, DeviceLostError);
    const after = await device.run(await device.acquire(1), [], pipeline, false);
    assert.deepEqual(after.items, []);
  });
});

test('what it cannot compute is one sentence, and the thread goes on', async () => {
  await withDevice({ threads: 1 }, async (device) => {
    const unknown = { ...pipeline, operations: [{ kernel: 'blur', parameters: {} }] };
    const { items } = createBatch(1, 0);
    await assert.rejects(
      device.run(await device.acquire(2048), items, unknown, false),
      /No CPU program of kernel 'blur'/,
    );
    const { items: results } = await device.run(await device.acquire(2048), items, pipeline, false);
    assert.equal(results.length, 1);
  });
});

test('closing rejects what still runs', async () => {
  await withDevice({ threads: 1 }, async (device) => {
    const batches = [1, 2].map(async () => device.run(await device.acquire(1), [], pipeline, false));
    const outcomes = Promise.allSettled(batches);
    await turn();
    await device.close();
    for (const outcome of await outcomes) assert.equal(outcome.status, 'rejected');
  });
});
