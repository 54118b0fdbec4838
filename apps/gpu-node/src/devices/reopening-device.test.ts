import assert from 'node:assert/strict';
import { test } from 'node:test';
import { layOutJpegs } from '@halogrid/jpeg';
import { createPipeline } from '@halogrid/kernels';
import { DeviceLostError, type NodeDevice } from './device.ts';
import { ReopeningDevice } from './reopening-device.ts';

const pipeline = createPipeline([{ kernel: 'lbp', parameters: {} }]);

/** A device that computes nothing and is lost on request. */
function createFake(name: string) {
  let lose!: (reason: string) => void;
  let isLost = false;
  let prepared = 0;
  const device: NodeDevice = {
    info: { kind: 'gpu', name, driver: '' },
    maxStagingBytes: 1000,
    batchBytes: 500,
    batchesInFlight: 2,
    lost: new Promise((resolve) => {
      lose = (reason) => {
        isLost = true;
        resolve(reason);
      };
    }),
    async acquire(bytes) {
      if (isLost) throw new DeviceLostError('gone');
      return { bytes: new Uint8Array(bytes), release: () => {} };
    },
    async run() {
      if (isLost) throw new DeviceLostError('gone');
      return { items: [], seconds: { upload: 0, compute: 0, readback: 0 } };
    },
    async close() {},
    jpegs: {
      maxBytes: 10,
      batchBytes: 20,
      async prepare() {
        prepared++;
      },
      async decode() {
        if (isLost) throw new DeviceLostError('gone');
        return { areFine: [true], seconds: { upload: 0, decode: 0 } };
      },
    },
  };
  return { device, lose, prepared: () => prepared };
}

/** A reopening device over fakes; `failures` openings fail first. */
function createReopening(failures = 0) {
  const first = createFake('0');
  const fakes = [first];
  const delaysMs: number[] = [];
  const losses: string[] = [];
  let left = failures;
  const device = new ReopeningDevice(first.device, {
    open: async () => {
      if (left-- > 0) throw new Error('the driver is not back');
      fakes.push(createFake(`${fakes.length}`));
      return fakes.at(-1)!.device;
    },
    openWithinMs: 1000,
    onLost: (reason) => void losses.push(reason),
    delay: async (ms) => void delaysMs.push(ms),
  });
  return { device, fakes, delaysMs, losses };
}

const compute = async (device: NodeDevice) => device.run(await device.acquire(1), [], pipeline, false);

test('batches on a lost device reject, and later ones run on the new one', async () => {
  const { device, fakes, losses } = createReopening();
  const staging = await device.acquire(1);
  fakes[0]!.lose('reset');
  await assert.rejects(device.run(staging, [], pipeline, false), DeviceLostError);
  await compute(device);
  assert.equal(device.info.name, '1');
  assert.deepEqual(losses, ['reset']);
});

test('it tries several times, with growing pauses', async () => {
  const { device, fakes, delaysMs } = createReopening(3);
  fakes[0]!.lose('reset');
  // Callers that ask before the loss is noticed are refused, like the batches that ran.
  await assert.rejects(compute(device), DeviceLostError);
  await compute(device);
  assert.deepEqual(delaysMs, [0, 1000, 4000, 15_000]);
});

test('a device that cannot be opened again is given up, with the reason', async () => {
  const { device, fakes } = createReopening(Number.POSITIVE_INFINITY);
  fakes[0]!.lose('reset');
  assert.match(await device.lost, /lost \(reset\).* after 4 tries: the driver is not back/);
  await assert.rejects(compute(device), DeviceLostError);
});

test('a device that is lost again and again without a batch in between is given up', async () => {
  const { device, fakes, losses } = createReopening();
  for (let i = 0; i < 5; i++) {
    fakes[i]!.lose('reset');
    await device.acquire(1).catch(() => {});
    await device.acquire(1).catch(() => {});
  }
  assert.match(await device.lost, /^The device was lost/);
  assert.equal(losses.length, 5);
});

test('a batch in between makes it patient again', async () => {
  const { device, fakes } = createReopening();
  let isLost = false;
  void device.lost.then(() => {
    isLost = true;
  });
  for (let i = 0; i < 12; i++) {
    fakes[i]!.lose('reset');
    await assert.rejects(compute(device), DeviceLostError);
    await compute(device);
  }
  assert.equal(isLost, false);
  assert.equal(device.info.name, '12');
});

test('JPEGs are decoded by the device that gave their staging memory, and each device is prepared on its own', async () => {
  const { device, fakes } = createReopening();
  const batch = { layout: layOutJpegs([]), filesBytes: 0, planesBytes: 0 };
  const jpegs = device.jpegs!;
  const staging = await device.acquire(1);
  await jpegs.prepare('gray');
  assert.deepEqual((await jpegs.decode(staging, batch)).areFine, [true]);
  fakes[0]!.lose('unplugged');
  await assert.rejects(jpegs.decode(staging, batch), DeviceLostError);
  const later = await device.acquire(1);
  await jpegs.prepare('gray');
  assert.deepEqual((await jpegs.decode(later, batch)).areFine, [true]);
  assert.deepEqual(
    fakes.map(({ prepared }) => prepared()),
    [1, 1],
  );
});
