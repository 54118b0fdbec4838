import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { mutate } from '@halogrid/jpeg/testing';
import type { Lease, ShardCompleted } from '@halogrid/proto';
import type { Device } from '../devices/device.ts';
import { testedKind } from '../devices/testing/tested-kind.ts';
import { openWebGpuDevice } from '../devices/webgpu-device.ts';
import type { DecodeChoice } from '../feed/decode-choice.ts';
import { JpegFeed } from '../feed/jpeg-feed.ts';
import { JpegThreads } from '../feed/jpeg-threads.ts';
import { noted } from './testing/noted-device.ts';
import { createTestExecutor, frameLease, type TestFolder, withFolder } from './testing/shard-fixture.ts';

let device: Device;
before(async () => {
  device = await openWebGpuDevice(testedKind);
});
const threads = new JpegThreads(2);
after(async () => {
  await threads.close();
  await device.close();
});
const never = new AbortController().signal;

function feedOf(choice: DecodeChoice, its: Device = device): JpegFeed {
  const unused = async () => assert.fail('no rate is read or kept');
  return new JpegFeed({
    ...{ choice, device: its, threads, readRate: unused, keepRate: unused, note: assert.fail },
    nowMs: () => performance.now(),
  });
}

/** What a lease gives with that choice, but for times; and the batches of JPEGs that the device had. */
async function computed(
  lease: Lease,
  choice: DecodeChoice,
  on = device,
): Promise<{ answer: object; batches: number[] }> {
  const batches: number[] = [];
  const { device: watched } = noted(on, {
    jpegs: {
      ...on.jpegs!,
      decode: (staging, batch) => {
        batches.push(batch.layout.fileCount);
        return on.jpegs!.decode(staging, batch);
      },
    },
  });
  const {
    stageSeconds: _,
    busySeconds: __,
    ...answer
  }: ShardCompleted = await createTestExecutor(watched, {
    feed: feedOf(choice, watched),
  })(lease, never);
  return { answer, batches };
}

const fixtures = globSync(
  fileURLToPath(new URL('../../../../libs/imaging/fixtures/*.jpg', import.meta.url)),
).toSorted();

/** Every JPEG of the fixtures, some mutants of each, and files that are no JPEGs. */
async function putMixed(folder: TestFolder): Promise<string[]> {
  const uris: string[] = [];
  const put = async (name: string, bytes: Uint8Array | string) => uris.push(await folder.put(name, bytes));
  for (const path of fixtures) {
    const jpeg = readFileSync(path);
    await put(basename(path), jpeg);
    for (let seed = 1; seed <= 4; seed++) {
      await put(`${seed}-${basename(path)}`, mutate(jpeg, readFileSync(fixtures[seed]!), seed));
    }
    await put(`cut-${basename(path)}`, jpeg.subarray(0, jpeg.length >> 1));
  }
  await put('empty.jpg', '');
  await put('text.jpg', 'not a picture');
  await put('picture.pgm', 'P5\n4 4\n255\n0123456789abcdef');
  uris.push(`${uris[0]}.missing.jpg`);
  return uris;
}

test('results and sentences are the same wherever JPEGs are decoded: any kind of them, damaged ones and others', async () => {
  await withFolder(async (folder) => {
    const uris = await putMixed(folder);
    const lease = frameLease(folder, uris, { previews: 2 });
    const cores = await computed(lease, 'cpu');
    const onDevice = await computed(lease, 'gpu');
    assert.deepEqual(onDevice.answer, cores.answer);
    assert.deepEqual(cores.batches, []);
    const decoded = onDevice.batches.reduce((sum, files) => sum + files, 0);
    assert.ok(decoded > 20, `${decoded} files went to the device`);
  });
});
