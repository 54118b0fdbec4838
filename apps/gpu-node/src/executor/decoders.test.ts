import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { mutate } from '@halogrid/jpeg/testing';
import type { FoundAnswer, Lease } from '@halogrid/proto';
import { type Device, type DeviceJpegs, DeviceLostError } from '../devices/device.ts';
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

/** The device, as one that is worth decoding on, with what is changed; notes the files of each batch that it decodes. */
function watched(changes: Partial<Device> = {}, jpegs: Partial<DeviceJpegs> = {}) {
  const batches: number[] = [];
  const its: DeviceJpegs = {
    ...device.jpegs!,
    ...jpegs,
    decode: (staging, batch) => {
      batches.push(batch.layout.fileCount);
      return (jpegs.decode ?? device.jpegs!.decode)(staging, batch);
    },
  };
  const { device: on, out } = noted(device, { info: { ...device.info, kind: 'gpu' }, jpegs: its, ...changes });
  return { on, batches, out };
}

/** What a lease gives with that choice, but for times. */
async function computed(lease: Lease, choice: DecodeChoice, on: Device): Promise<Partial<FoundAnswer>> {
  const feed = new JpegFeed({
    ...{ choice, device: on, threads, note: assert.fail },
    readRate: async () => undefined,
    keepRate: async () => {},
    nowMs: () => performance.now(),
  });
  const { stageSeconds: _, busySeconds: __, ...answer } = await createTestExecutor(on, { feed })(lease, never);
  return answer;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

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
    const cores = watched();
    const expected = await computed(lease, 'cpu', cores.on);
    assert.deepEqual(cores.batches, []);
    assert.ok(expected.results!.length > 20 && expected.errors!.length > 20);

    const whole = watched();
    assert.deepEqual(await computed(lease, 'gpu', whole.on), expected);
    assert.ok(sum(whole.batches) > 20, `${whole.batches} files went to the device`);
    // Several batches, because little fits one.
    const small = watched({}, { maxBytes: 8000, batchBytes: 100_000 });
    assert.deepEqual(await computed(lease, 'gpu', small.on), expected);
    assert.ok(small.batches.length > whole.batches.length);
    assert.deepEqual([cores.out(), whole.out(), small.out()], [0, 0, 0]);

    // Cores have the first 256 frames, and then the device some.
    const shared = watched();
    const four = { ...lease, ...frameLease(folder, Array(4).fill(uris).flat()) };
    const both = await computed(four, 'auto', shared.on);
    const of = ({ results, errors }: Partial<FoundAnswer>) => [results!.length, errors!.length];
    assert.deepEqual(
      of(both),
      of(expected).map((count) => 4 * count),
    );
    for (const [i, { bins }] of both.results!.entries()) {
      assert.deepEqual(bins, expected.results![i % expected.results!.length]!.bins);
    }
  });
});

test('frames over whose batch the device is lost are computed in smaller batches', async () => {
  await withFolder(async (folder) => {
    const jpegs = fixtures.filter((path) => /(420|422|444|gray|restart|17x31)\.jpg$/.test(path));
    const uris = await Promise.all(jpegs.map((path) => folder.put(basename(path), readFileSync(path))));
    const lease = frameLease(folder, uris);
    const expected = await computed(lease, 'cpu', device);
    const lost = new DeviceLostError('it was unplugged');
    let losses = 0;
    const failing = watched(
      {
        async run(staging, ...batch) {
          if (losses > 0) return device.run(staging, ...batch);
          losses++;
          staging.release();
          throw lost;
        },
      },
      { decode: (...batch) => (losses === 0 ? Promise.reject(lost) : device.jpegs!.decode(...batch)) },
    );
    assert.deepEqual(await computed(lease, 'gpu', failing.on), expected);
    assert.deepEqual([losses, failing.batches], [1, [jpegs.length, jpegs.length]]);
  });
});
