import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { DecoderPool } from '@halogrid/imaging';
import { noFfmpeg, runFfmpeg } from '@halogrid/imaging/testing-videos';
import type { FoundAnswer, Lease } from '@halogrid/proto';
import type { NodeDevice } from '../devices/device.ts';
import { sharedDevice } from '../devices/testing/shared-device.ts';
import type { DecodeChoice } from '../feed/decode-choice.ts';
import { chunksIn, feedsOf } from './testing/decoding.ts';
import { noted } from './testing/noted-device.ts';
import { leaseOfVideo, recordingLease } from './testing/recording-lease.ts';
import { createTestExecutor, withFolder, withSource } from './testing/shard-fixture.ts';

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
 * The answer of a lease with that decoder, without times and bytes read, and the number of files in each batch that the
 * device decoded.
 */
async function computed(
  lease: Lease,
  choice: DecodeChoice,
  doubt: (file: number) => boolean = () => false,
): Promise<{ answer: Partial<FoundAnswer>; batches: number[] }> {
  const batches: number[] = [];
  const { device: on } = noted(device, {
    jpegs: {
      ...device.jpegs!,
      decode: async (staging, batch) => {
        batches.push(batch.colours ? batch.colours.firsts.length - 1 : batch.layout.fileCount);
        const decoded = await device.jpegs!.decode(staging, batch);
        return { ...decoded, areFine: decoded.areFine.map((isFine, file) => isFine && !doubt(file)) };
      },
    },
  });
  const feeds = feedsOf(choice, on, { read: () => assert.fail('no file is a JPEG') });
  const execute = createTestExecutor(on, { feeds, decoders });
  const { signal } = new AbortController();
  const { stageSeconds: _, busySeconds: __, inputBytes: ___, timeline: ____, ...answer } = await execute(lease, signal);
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
  return { answer, batches };
}

test('frames of MJPEG give the same on the device as on cores, and so do the frames that it leaves to cores', {
  skip,
}, async () => {
  await withFolder(async (folder) => {
    const lease = await recordingLease(folder, 'mjpeg.avi', 12);
    const { answer: expected } = await computed(lease, 'cpu');
    assert.deepEqual([expected.results!.length, expected.errors!.length], [12, 0]);
    const onDevice = await computed(lease, 'gpu');
    assert.deepEqual(onDevice, { answer: expected, batches: [12] });
    const inDoubt = await computed(lease, 'gpu', (file) => file % 3 === 1);
    assert.deepEqual(inDoubt, { answer: expected, batches: [12] });
    const other = await recordingLease(folder, 'mjpeg.mkv', 3);
    assert.deepEqual(await computed(other, 'gpu'), { ...(await computed(other, 'cpu')), batches: [3] });
  });
});

test('frames with bytes that hold no pixel give the same as without these bytes, and are reported, on cores and on the device', {
  skip,
}, async () => {
  await withFolder(async (folder) => {
    const file = (path: string) => readFileSync(new URL(`../../../../libs/imaging/${path}`, import.meta.url));
    const recordingOf = async (name: string, jpegs: readonly string[]): Promise<Lease> => {
      for (const [i, path] of jpegs.entries()) await folder.put(`${name}-${i}.jpg`, file(path));
      const uri = await folder.put(`${name}.avi`, '');
      const frames = fileURLToPath(uri).replace('.avi', '-%d.jpg');
      runFfmpeg(['-f', 'image2', '-c:v', 'mjpeg', '-i', frames, '-c', 'copy', '-y', fileURLToPath(uri)]);
      return await leaseOfVideo(folder, uri);
    };
    const dirty = ['before-restarts-mjpeg', 'text-behind', 'comment-longer'].map((name) => `mended-jpegs/${name}.jpg`);
    const clean = ['restart', 'restart', '420'].map((name) => `fixtures/${name}.jpg`);
    const lease = await recordingOf('dirty', [...clean, ...dirty]);
    const { answer: onCores } = await computed(lease, 'cpu');
    assert.deepEqual(onCores.errors, []);
    const bins = onCores.results!.map((result) => result.bins);
    assert.deepEqual(bins.slice(3), bins.slice(0, 3));
    assert.deepEqual(onCores.mended, {
      kinds: ['in front of restart markers', 'behind the last pixel', 'between segments'].map((where, i) => ({
        mended: `JPEG bytes that hold no pixel were passed over ${where}`,
        sources: 1,
        source: 3 + i,
      })),
    });
    assert.deepEqual((await computed(lease, 'gpu')).answer, onCores);
  });
});

test('cores decode other codecs', { skip }, async () => {
  await withFolder(async (folder) => {
    const other = await recordingLease(folder, 'mpeg4.mp4', 4);
    assert.deepEqual(await computed(other, 'gpu'), await computed(other, 'cpu'));
  });
});

test('maps and colours of frames are the same as on cores, and cores decode frames with a preview', {
  skip,
}, async () => {
  await withFolder(async (folder) => {
    const colour = { kernel: 'conv', parameters: { kernel: 'sobel', channels: 'rgb' }, border: '' };
    const more = { wantsMap: true, pipeline: { operations: [colour] } };
    const lease = withSource(await recordingLease(folder, 'mjpeg.mkv', 4, more), 1, { preview: true });
    const scratch = fileURLToPath(folder.scratch);
    const { answer: expected } = await computed(lease, 'cpu');
    const kept = chunksIn(scratch);
    for (const path of kept.keys()) rmSync(join(scratch, path));
    assert.deepEqual(await computed(lease, 'gpu'), { answer: expected, batches: [3] });
    assert.ok(kept.size === 6, [...kept.keys()].join());
    assert.deepEqual(chunksIn(scratch), kept);
  });
});
