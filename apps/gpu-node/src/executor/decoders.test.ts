import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { mutate } from '@halogrid/jpeg/testing';
import type { FoundAnswer, Lease } from '@halogrid/proto';
import sharp from 'sharp';
import { type Device, type DeviceJpegs, DeviceLostError } from '../devices/device.ts';
import { testedKind } from '../devices/testing/tested-kind.ts';
import { openWebGpuDevice } from '../devices/webgpu-device.ts';
import type { DecodeChoice } from '../feed/decode-choice.ts';
import { JpegFeed } from '../feed/jpeg-feed.ts';
import { JpegThreads } from '../feed/jpeg-threads.ts';
import { noted } from './testing/noted-device.ts';
import { createTestExecutor, frameLease, lbp, type TestFolder, withFolder } from './testing/shard-fixture.ts';

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

const feedOf = (choice: DecodeChoice, on: Device): JpegFeed =>
  new JpegFeed({
    ...{ choice, device: on, threads, note: assert.fail },
    readRate: async () => undefined,
    keepRate: async () => {},
    nowMs: () => performance.now(),
  });

/** What a lease gives with that choice, but for times. */
async function computed(
  lease: Lease,
  choice: DecodeChoice,
  on: Device,
  feed = feedOf(choice, on),
): Promise<Partial<FoundAnswer>> {
  const {
    stageSeconds: _,
    busySeconds: __,
    timeline: ___,
    ...answer
  } = await createTestExecutor(on, { feed })(lease, never);
  return answer;
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

const oracle = fileURLToPath(new URL('../../../../libs/kernels/oracle/images', import.meta.url));
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

    // Cores have the frames until the device is ready, and then it has some.
    const shared = watched();
    const feed = feedOf('auto', shared.on);
    while (shared.batches.length === 0) assert.deepEqual(await computed(lease, 'auto', shared.on, feed), expected);
  });
});

test('of photographs, a picture that says when it was taken, and for several pipelines and cells, the device leaves what cores leave', async () => {
  await withFolder(async (folder) => {
    const exif = { IFD2: { DateTimeOriginal: '2026:01:31 08:00:00', OffsetTimeOriginal: '+02:00' } };
    const plain = sharp(Buffer.alloc(64 * 48, 100), { raw: { width: 64, height: 48, channels: 1 } });
    const uris = [await folder.put('taken.jpg', await plain.withExif(exif).jpeg().toBuffer())];
    for (const path of fixtures) uris.push(await folder.put(basename(path), readFileSync(path)));
    for (const [name, quality, chromaSubsampling] of [
      ['coins', 30, '4:2:0'],
      ['camera', 95, '4:4:4'],
    ] as const) {
      const jpeg = await sharp(join(oracle, `${name}.png`))
        .toColourspace('srgb')
        .jpeg({ quality, chromaSubsampling });
      uris.push(await folder.put(`${name}.jpg`, await jpeg.toBuffer()));
    }
    const other = lbp({ convention: 'nw-cw-lsb' }, 'mirror');
    const named = [
      { name: 'a', pipeline: { operations: [lbp()] } },
      { name: 'b', pipeline: { operations: [other] } },
    ];
    const lease = frameLease(folder, uris, { pipelines: { named }, grid: { rows: 2, columns: 3 } });
    const expected = await computed(lease, 'cpu', device);
    const { on, batches, out } = watched();
    const found = await computed(lease, 'gpu', on);
    // Differences of so many bins would take minutes to be told.
    assert.ok(isDeepStrictEqual(found, expected));
    assert.ok(batches[0]! > 5 && out() === 0);
    const captured = { localMs: Date.UTC(2026, 0, 31, 8), offsetMinutes: 120 };
    assert.deepEqual(expected.results!.find(({ source }) => source === 0)!.captured, captured);
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
