import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createPipeline, type PipelineItem, runReference } from '@halogrid/kernels';
import { noiseImage, samplesOf, staged, stageTile } from '@halogrid/kernels/testing';
import { CpuDevice, type CpuDeviceOptions } from './cpu-device.ts';
import { DeviceLostError, type NodeDevice } from './device.ts';
import { runOne } from './testing/verify-against-reference.ts';
import { waitedMs } from './testing/waited-ms.ts';

const lbp = { kernel: 'lbp', parameters: {}, border: 'mirror' };
const pipeline = createPipeline([lbp]);

async function withDevice(options: CpuDeviceOptions, use: (device: NodeDevice) => Promise<void>): Promise<void> {
  const device = new CpuDevice(options);
  try {
    await use(device);
  } finally {
    await device.close();
  }
}

/** Frames of noise of `count` sizes in one buffer. */
function createBatch(count: number, seed: number): { items: PipelineItem[]; bytes: Uint8Array } {
  let end = 0;
  const placed = Array.from({ length: count }, (_, i) => {
    const size = { width: 1 + ((i * 13 + seed) % 40), height: 1 + ((i * 7) % 30) };
    const one = stageTile(pipeline, noiseImage(size, seed + i), { x: 0, y: 0, ...size }, undefined, end);
    end = one.end;
    return one;
  });
  const bytes = new Uint8Array(end);
  for (const { fill } of placed) fill(bytes);
  return { items: placed.map(({ item }) => item), bytes };
}

/** Computes the batch that lies in `bytes`. */
async function compute(device: NodeDevice, { items, bytes }: ReturnType<typeof createBatch>, withMap: boolean) {
  const staging = await device.acquire(bytes.length);
  staging.bytes.set(bytes);
  return device.run(staging, items, pipeline, withMap);
}

test('batches that run at the same time each equal the reference, maps included', async () => {
  await withDevice({ threads: 2 }, async (device) => {
    const batches = Array.from({ length: 9 }, async (_, seed) => {
      const batch = createBatch(12, seed);
      const { items: results } = await compute(device, batch, true);
      assert.deepEqual(
        results,
        batch.items.map((item) => runReference(pipeline, batch.bytes, item, true)),
      );
    });
    await Promise.all(batches);
  });
});

test('the device is at work while a core computes for it, not while its thread waits', async () => {
  const program = new URL('./testing/waiting-worker.ts', import.meta.url);
  await withDevice({ threads: 1, program }, async (device) => {
    const { seconds, busySeconds } = await compute(device, createBatch(1, 1), true);
    const waited = waitedMs / 1000;
    assert.ok(seconds.compute >= waited && busySeconds! < seconds.compute - waited / 2, `${busySeconds} s`);
    // Time that the system has not counted yet is reported with the next batch.
    const next = await compute(device, createBatch(1, 1), true);
    assert.ok(busySeconds! + next.busySeconds! > 0);
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

test('kept staging memory stays with its owner until a run does not keep it, or is refused', async () => {
  const unknown = { ...pipeline, operations: [{ ...pipeline.operations[0]!, kernel: 'unknown' }] } as typeof pipeline;
  await withDevice({ threads: 1, stagingBytes: 4 * 2 ** 20 }, async (device) => {
    for (const end of ['computed', 'refused', 'released']) {
      const staging = await device.acquire(4 * 2 ** 20);
      await device.run(staging, [], pipeline, false, true);
      if (end === 'computed') await device.run(staging, [], pipeline, false);
      else if (end === 'refused')
        await assert.rejects(device.run(staging, createBatch(1, 0).items, unknown, false, true));
      else staging.release();
    }
    (await device.acquire(4 * 2 ** 20)).release();
  });
});

test('released staging memory goes to the caller that waits for it', async () => {
  await withDevice({ threads: 1, stagingBytes: 4 * 2 ** 20 }, async (device) => {
    const first = await device.acquire(100);
    first.bytes[0] = 77;
    const waiting = device.acquire(100);
    await device.run(first, [], pipeline, false);
    const second = await waiting;
    assert.equal(second.bytes[0], 77);
    second.release();
  });
});

test('a thread that crashes fails its batch as a lost device does, and is replaced', async () => {
  const program = new URL('./testing/crashing-worker.ts', import.meta.url);
  await withDevice({ threads: 1, program }, async (device) => {
    const crash = device.run(await device.acquire(1), [], { ...pipeline, convention: 'crash' }, false);
    await assert.rejects(crash, DeviceLostError);
    const after = await device.run(await device.acquire(1), [], pipeline, false);
    assert.deepEqual(after.items, []);
  });
});

test('a batch that it cannot compute is refused, and the thread goes on', async () => {
  await withDevice({ threads: 1 }, async (device) => {
    const batch = createBatch(1, 0);
    const unknown = { ...pipeline, operations: [{ ...pipeline.operations[0]!, kernel: 'blur' }] };
    const refused = device.run(await device.acquire(1), batch.items, unknown, false);
    await assert.rejects(refused, (error) => error instanceof Error && !(error instanceof DeviceLostError));
    const { items: results } = await compute(device, batch, false);
    assert.equal(results.length, 1);
  });
});

test('kernels one after another, and cells, equal the reference', async () => {
  await withDevice({ threads: 1 }, async (device) => {
    const twice = createPipeline([lbp, { ...lbp, border: 'interior' }]);
    const size = { width: 37, height: 29 };
    const tile = { x: 3, y: 5, width: 30, height: 20 };
    const { item, bytes } = staged(twice, noiseImage(size, 1), tile, { rows: 3, columns: 4 });
    const ours = await runOne(device, twice, bytes, item);
    const reference = runReference(twice, bytes, item, true);
    assert.deepEqual([ours.counted, ours.bins], [reference.counted, reference.bins]);
    assert.deepEqual(samplesOf(twice, ours, tile), samplesOf(twice, reference, tile));
  });
});

test('nothing is computed if neither counts nor a dense result are wanted', async () => {
  await withDevice({ threads: 1 }, async (device) => {
    // No thread knows this kernel, so if there is a result, no thread was asked.
    const idle = { ...pipeline, operations: [{ ...pipeline.operations[0]!, kernel: 'blur' }], bins: 0 };
    const { items } = createBatch(2, 0);
    const { items: results } = await device.run(await device.acquire(1), items, idle, false);
    const counted = items.map(({ stages }) => stages[0]!.out.width * stages[0]!.out.height);
    assert.deepEqual(
      results,
      counted.map((pixels) => ({ counted: pixels, bins: new Uint32Array(0) })),
    );
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
