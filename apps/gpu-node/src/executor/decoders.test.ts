import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import sharp from 'sharp';
import { DeviceLostError, type NodeDevice } from '../devices/device.ts';
import { sharedDevice } from '../devices/testing/shared-device.ts';
import type { DecodeChoice } from '../feed/decode-choice.ts';
import { JpegThreads } from '../feed/jpeg-threads.ts';
import { computed, feedsOf, fixtures, putMixed, sum, type TestFeeds, watched } from './testing/decoding.ts';
import { frameLease, lbp, withFolder } from './testing/shard-fixture.ts';

let device: NodeDevice;
before(async () => {
  device = await sharedDevice();
});
const threads = new JpegThreads(2);
after(async () => {
  await threads.close();
});
const on = (choice: DecodeChoice, device: NodeDevice): TestFeeds => feedsOf(choice, device, threads);

const oracle = fileURLToPath(new URL('../../../../libs/kernels/oracle/images', import.meta.url));

test('results and sentences are the same wherever JPEGs are decoded: JPEGs of every kind, damaged ones and other files', async () => {
  await withFolder(async (folder) => {
    const uris = await putMixed(folder);
    const lease = frameLease(folder, uris, { previews: 2 });
    const cores = watched(device);
    const expected = await computed(lease, cores.on, on('cpu', cores.on));
    assert.deepEqual(cores.batches, []);
    assert.ok(expected.results!.length > 20 && expected.errors!.length > 20);

    const whole = watched(device);
    assert.deepEqual(await computed(lease, whole.on, on('gpu', whole.on)), expected);
    assert.ok(sum(whole.batches) > 20, `${whole.batches} files went to the device`);
    // Several batches, because one holds few files.
    const small = watched(device, {}, { maxBytes: 8000, batchBytes: 100_000 });
    assert.deepEqual(await computed(lease, small.on, on('gpu', small.on)), expected);
    assert.ok(small.batches.length > whole.batches.length);
    assert.deepEqual([cores.out(), whole.out(), small.out()], [0, 0, 0]);

    // Cores decode the frames until the device is ready, and then it decodes some.
    const shared = watched(device);
    const feeds = on('auto', shared.on);
    while (shared.batches.length === 0) assert.deepEqual(await computed(lease, shared.on, feeds), expected);
  });
});

test('for photographs, a picture with a capture time, the first of two, several pipelines and cells, the device gives the same as cores', async () => {
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
    // The list of a stereo camera's two pictures (CIPA DC-007): a directory of one entry, and 16 bytes a picture.
    const list = Buffer.alloc(66);
    list.write('\xff\xe2\0\x40MPF\0II*\0\x08\0\0\0\x01\0\x02\xb0\x07\0\x20\0\0\0\x1a', 'latin1');
    list.writeUInt32LE(0x02_0002, 34 + 16);
    const first = await plain.jpeg().toBuffer();
    const stereo = Buffer.concat([first.subarray(0, 2), list, first.subarray(2), first]);
    uris.push(await folder.put('stereo.jpg', stereo));
    const other = lbp({ convention: 'nw-cw-lsb' }, 'mirror');
    const named = [
      { name: 'a', pipeline: { operations: [lbp()] }, op: [] },
      { name: 'b', pipeline: { operations: [other] }, op: [] },
    ];
    const lease = frameLease(folder, uris, { pipelines: { named }, grid: { rows: 2, columns: 3 } });
    const expected = await computed(lease, device, on('cpu', device));
    const { on: its, batches, out } = watched(device);
    const found = await computed(lease, its, on('gpu', its));
    // A difference between so many bins would take minutes to print.
    assert.ok(isDeepStrictEqual(found, expected));
    assert.ok(batches[0]! > 5 && out() === 0);
    const captured = { localMs: Date.UTC(2026, 0, 31, 8), offsetMinutes: 120 };
    assert.deepEqual(expected.results!.find(({ source }) => source === 0)!.captured, captured);
    const mended = 'only the first of several pictures was read';
    assert.deepEqual(expected.mended!.kinds, [{ mended, sources: 1, source: uris.length - 1 }]);
  });
});

test("a shard's frames are computed again if the device is lost over a later batch of them", async () => {
  await withFolder(async (folder) => {
    const lease = frameLease(folder, await putMixed(folder));
    const expected = await computed(lease, device, on('cpu', device));
    let batches = 0;
    const failing = watched(
      device,
      {},
      {
        maxBytes: 8000,
        batchBytes: 100_000,
        decode: (staging, batch) => {
          const decoded = device.jpegs!.decode(staging, batch);
          return ++batches === 3 ? Promise.reject(new DeviceLostError('it was unplugged')) : decoded;
        },
      },
    );
    assert.deepEqual(await computed(lease, failing.on, on('gpu', failing.on)), expected);
    assert.ok(batches > 6 && failing.out() === 0);
  });
});

test('if the device is lost over a batch, its frames are computed again in smaller batches', async () => {
  await withFolder(async (folder) => {
    const jpegs = fixtures.filter((path) => /(420|422|444|gray|restart|17x31)\.jpg$/.test(path));
    const uris = await Promise.all(jpegs.map((path) => folder.put(basename(path), readFileSync(path))));
    const lease = frameLease(folder, uris);
    const expected = await computed(lease, device, on('cpu', device));
    const lost = new DeviceLostError('it was unplugged');
    let losses = 0;
    const failing = watched(
      device,
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
    assert.deepEqual(await computed(lease, failing.on, on('gpu', failing.on)), expected);
    assert.deepEqual([losses, failing.batches], [1, [jpegs.length, jpegs.length]]);
  });
});
