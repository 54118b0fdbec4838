// Luma of recordings that the device converts to gray in place of the decoder. libs/imaging compares the conversion
// with FFmpeg.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { mkdirSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DecoderPool } from '@halogrid/imaging';
import { noFfmpeg } from '@halogrid/imaging/testing-videos';
import type { FoundAnswer, Lease } from '@halogrid/proto';
import { sampled } from '@halogrid/testing';
import type { NodeDevice } from '../devices/device.ts';
import { sharedDevice } from '../devices/testing/shared-device.ts';
import { chunksIn } from './testing/decoding.ts';
import { noted } from './testing/noted-device.ts';
import { recordingLease } from './testing/recording-lease.ts';
import { createTestExecutor, lbp, withFolder, withSource } from './testing/shard-fixture.ts';

const skip = noFfmpeg;
let device: NodeDevice;
const decoders = new DecoderPool({ processes: 1 });
before(async () => {
  device = await sharedDevice();
});
after(async () => {
  await decoders.close();
});

/**
 * The answer of a lease without times, and how often memory was acquired for luma of the limited range and for gray.
 */
async function computed(
  lease: Lease,
  takesLimited: boolean,
): Promise<{ answer: Partial<FoundAnswer>; acquired: { limited: number; gray: number } }> {
  const acquired = { limited: 0, gray: 0 };
  const { device: on } = noted(device, { takesLimited });
  const { acquire } = on;
  on.acquire = (bytes, isLimited) => {
    acquired[isLimited ? 'limited' : 'gray']++;
    return acquire(bytes, isLimited);
  };
  const execute = createTestExecutor(on, { decoders });
  const { signal } = new AbortController();
  const found = await execute(lease, signal);
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
  const { stageSeconds: _, busySeconds: __, timeline: ___, ...answer } = found;
  return { answer, acquired };
}

const pipelines = {
  named: [
    { name: 'a', pipeline: { operations: [lbp()] }, op: [] },
    { name: 'b', pipeline: { operations: [lbp({ points: '16', radius: '3' }, 'mirror')] }, op: [] },
  ],
};

// Frames of 98 x 66 pixels: some decoders have rows of 98 bytes, which are copied one by one, others have wider ones.
for (const name of sampled(['h264.mp4', 'hevc.mkv', 'mpeg4.avi'], 2)) {
  test(`frames of ${name}, which have the limited range, are counted alike by device and decoder`, {
    skip,
  }, async () => {
    await withFolder(async (folder) => {
      const lease = await recordingLease(folder, name, 9, { pipelines, grid: { rows: 2, columns: 3 } });
      const expected = await computed(lease, false);
      assert.equal(expected.acquired.limited, 0);
      assert.deepEqual([expected.answer.results!.length, expected.answer.errors], [18, []]);
      const found = await computed(lease, true);
      assert.deepEqual(found.answer, expected.answer);
      assert.ok(found.acquired.limited > 0 && found.acquired.gray === 0);
    });
  });
}

test('rows without bytes between them are counted as well', { skip }, async () => {
  await withFolder(async (folder) => {
    const encoder = ['-vf', 'scale=128:72', '-pix_fmt', 'yuv420p', '-c:v', 'libx264'];
    const blurred = { kernel: 'conv', parameters: { kernel: 'gaussian-5', as: 'u8' }, border: 'mirror' };
    const ldp = { kernel: 'ldp', parameters: { order: '4' }, border: '' };
    const others = [{ operations: [ldp] }, { operations: [blurred] }, { operations: [blurred, lbp()] }];
    const named = [...pipelines.named, ...others.map((pipeline, i) => ({ name: `${i}`, pipeline, op: [] }))];
    const lease = await recordingLease(folder, 'whole.mp4', 4, { pipelines: { named } }, encoder);
    const found = await computed(lease, true);
    assert.ok(found.acquired.limited > 0);
    assert.deepEqual(found.answer, (await computed(lease, false)).answer);
    assert.equal(found.answer.results!.length, 4 * named.length);
  });
});

for (const name of sampled(['h264-full-range.mp4', 'hevc-10.mp4', 'mjpeg-limited.avi'], 2)) {
  test(`frames of ${name} come as gray`, { skip }, async () => {
    await withFolder(async (folder) => {
      const lease = await recordingLease(folder, name, 5, { pipelines });
      const found = await computed(lease, true);
      assert.ok(found.acquired.gray > 0 && found.acquired.limited === 0);
      assert.deepEqual(found.answer, (await computed(lease, false)).answer);
    });
  });
}

test('maps are the same if the device or the decoder expands luma, and a segment with a preview comes as gray', {
  skip,
}, async () => {
  await withFolder(async (folder) => {
    const its = ['decoder', 'device'].map((name) => `${folder.scratch}/${name}`);
    for (const scratch of its) mkdirSync(new URL(scratch), { recursive: true });
    const lease = await recordingLease(folder, 'h264.mp4', 5, { wantsMap: true });
    const expected = await computed({ ...lease, scratch: its[0]! }, false);
    const found = await computed({ ...lease, scratch: its[1]! }, true);
    assert.deepEqual(found.answer, expected.answer);
    const [kept, own] = its.map((scratch) => chunksIn(fileURLToPath(scratch)));
    assert.equal(kept!.size, 5);
    assert.deepEqual(own, kept);
    assert.ok(found.acquired.limited > 0);

    const shown = withSource(lease, 2, { preview: true });
    const withPreview = await computed({ ...shown, scratch: its[1]! }, true);
    assert.equal(withPreview.acquired.limited, 0);
    assert.deepEqual(withPreview.answer, expected.answer);
  });
});
