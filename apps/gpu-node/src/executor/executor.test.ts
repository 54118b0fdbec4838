import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Size } from '@halogrid/geometry';
import { type OpenImage, openImage } from '@halogrid/imaging';
import type { TestImage } from '@halogrid/kernels/testing';
import { Cause } from '@halogrid/proto';
import { writeChunk } from '@halogrid/results';
import { CpuDevice, openTwinDevice } from '../devices/cpu-device.ts';
import { type Device, DeviceLostError } from '../devices/device.ts';
import type { Executor } from './executor.ts';
import {
  createTestExecutor,
  frameLease,
  lbp,
  openedWhole,
  patternImage,
  referenceOf,
  type TestFolder,
  tileLease,
  withFolder,
} from './testing/shard-fixture.ts';

const device = new CpuDevice({ threads: 2 });
after(() => device.close());
const never = new AbortController().signal;
const execute = createTestExecutor(device);

/** A device that notes its batches and what is out. */
function noted(inner: Device, changes: Partial<Device> = {}) {
  const batches: { items: number; withMap: boolean }[] = [];
  let out = 0;
  const device: Device = {
    info: inner.info,
    maxStagingBytes: inner.maxStagingBytes,
    batchBytes: inner.batchBytes,
    batchesInFlight: inner.batchesInFlight,
    lost: inner.lost,
    async acquire(bytes) {
      const staging = await inner.acquire(bytes);
      out++;
      const release = staging.release.bind(staging);
      staging.release = () => {
        out--;
        release();
      };
      return staging;
    },
    async run(staging, items, pipeline, withMap) {
      batches.push({ items: items.length, withMap });
      out--;
      return inner.run(staging, items, pipeline, withMap);
    },
    close: () => inner.close(),
    ...changes,
  };
  return { device, batches, out: () => out };
}

const sizes: Size[] = [
  { width: 64, height: 48 },
  { width: 1, height: 1 },
  { width: 33, height: 7 },
  { width: 200, height: 3 },
];

async function putFrames(folder: TestFolder): Promise<{ uris: string[]; frames: TestImage[] }> {
  const patterns = sizes.map((size, seed) => patternImage(size, seed));
  const uris = await Promise.all(patterns.map(({ file }, i) => folder.put(`${i}.pgm`, file)));
  return { uris, frames: patterns.map(({ image }) => image) };
}

test('whole frames: histograms in the order of the lease, maps and previews where they are wanted', async () => {
  await withFolder(async (folder) => {
    const { uris, frames } = await putFrames(folder);
    const answer = await execute(frameLease(folder, uris, { wantsMap: true, previews: 2 }), never);
    const { jobId, shard, attempt, epoch } = answer;
    assert.deepEqual({ jobId, shard, attempt, epoch }, { jobId: 'job', shard: 3, attempt: 1, epoch: 5 });
    assert.deepEqual(answer.errors, []);
    for (const [i, size] of sizes.entries()) {
      const { counted, bins, map } = referenceOf([lbp()], frames[i]!);
      const rect = { x: 0, y: 0, ...size };
      assert.deepEqual(answer.results[i], { source: i, ...size, rect, counted, bins });
      assert.deepEqual(await folder.map([lbp()], size, [rect], i), map);
      const folderUrl = `${pathToFileURL(folder.path).href}/`;
      const preview = new URL(`scratch/preview/${i}/`, folderUrl);
      assert.equal(existsSync(preview), i < 2);
      // Of a small image it is all of it, as it was decoded.
      const original = fileURLToPath(new URL(`scratch/source/${i}/0-0-${size.width}-${size.height}.u8`, folderUrl));
      assert.equal(existsSync(original), i < 2);
      if (i < 2) assert.deepEqual(new Uint8Array(readFileSync(original)), frames[i]!.pixels);
    }
    const bytes = uris.reduce((sum, uri) => sum + readFileSync(fileURLToPath(uri)).length, 0);
    assert.ok(answer.inputBytes >= bytes);
    assert.deepEqual(Object.keys(answer.stageSeconds), ['read', 'decode', 'upload', 'compute', 'readback', 'encode']);
    for (const stage of ['read', 'decode', 'compute', 'encode']) assert.ok(answer.stageSeconds[stage]! > 0, stage);
    const { shard: whole, ...parts } = answer.busySeconds;
    for (const [part, seconds] of Object.entries(parts)) assert.ok(seconds > 0 && seconds <= whole!, part);
  });
});

test('frames of 8 and of 16 bits in one lease are computed as what they are', async () => {
  await withFolder(async (folder) => {
    const types = ['u8', 'u16', 'u16', 'u8'] as const;
    const patterns = types.map((pixel, seed) => patternImage({ width: 30, height: 20 }, seed, 1, pixel));
    const uris = await Promise.all(patterns.map(({ file }, i) => folder.put(`${i}.pgm`, file)));
    const { device: counted, batches, out } = noted(device);
    const { results } = await createTestExecutor(counted)(frameLease(folder, uris), never);
    for (const [i, { image }] of patterns.entries()) {
      assert.deepEqual(results[i]!.bins, referenceOf([lbp()], image).bins);
    }
    assert.deepEqual(
      batches.map(({ items }) => items),
      [1, 2, 1],
    );
    assert.equal(out(), 0);
  });
});

test('a grid: the histogram of every cell of each frame', async () => {
  await withFolder(async (folder) => {
    const { uris, frames } = await putFrames(folder);
    const grid = { rows: 5, columns: 3 };
    const { results } = await execute(frameLease(folder, uris, { grid }), never);
    for (const [i, { bins }] of results.entries()) {
      assert.deepEqual(bins, referenceOf([lbp()], frames[i]!, grid).bins);
    }
  });
});

test('a grid whose histograms are too many fails with a sentence', async () => {
  await withFolder(async (folder) => {
    const lease = frameLease(folder, [], { grid: { rows: 1000, columns: 1000 } });
    await assert.rejects(execute(lease, never), /Expected at most 16384 cells .* received '1000x1000'/);
  });
});

test('dense results are asked of the device only where something needs them', async () => {
  await withFolder(async (folder) => {
    const { uris } = await putFrames(folder);
    const { device: watched, batches } = noted(device);
    const run = createTestExecutor(watched);
    for (const lease of [{}, { previews: 1 }, { wantsMap: true }]) await run(frameLease(folder, uris, lease), never);
    const all = uris.length;
    assert.deepEqual(batches, [
      { items: all, withMap: false },
      { items: all - 1, withMap: false },
      { items: 1, withMap: true },
      { items: all, withMap: true },
    ]);
  });
});

test('inputs that cannot be processed are named, and the others are computed', async () => {
  await withFolder(async (folder) => {
    const { uris } = await putFrames(folder);
    const { file } = patternImage({ width: 40, height: 40 }, 9);
    const cut = await folder.put('cut.pgm', file.subarray(0, 500));
    const text = await folder.put('text.png', 'no picture');
    const missing = pathToFileURL(`${folder.path}/missing.pgm`).href;
    const lease = frameLease(folder, [text, uris[0]!, cut, missing, uris[1]!], { wantsMap: true });
    const { results, errors } = await execute(lease, never);
    assert.deepEqual(
      results.map(({ source }) => source),
      [1, 4],
    );
    assert.deepEqual(
      errors.map(({ source }) => source),
      [0, 2, 3],
    );
    for (const { stage, error } of errors) {
      assert.match(stage, /^(read|decode)$/);
      assert.ok(error.length > 10, error);
    }
  });
});

test('frames of which none can be decoded leave no staging memory behind', async () => {
  await withFolder(async (folder) => {
    const { file } = patternImage({ width: 40, height: 40 }, 9);
    const cut = await folder.put('cut.pgm', file.subarray(0, 500));
    const { device: watched, out } = noted(device);
    const { errors } = await createTestExecutor(watched)(frameLease(folder, [cut, cut]), never);
    assert.equal(errors.length, 2);
    assert.equal(out(), 0);
  });
});

test('frames that do not fit the device at once are run as several batches', async () => {
  await withFolder(async (folder) => {
    const { uris } = await putFrames(folder);
    const { device: small, batches } = noted(device, { maxStagingBytes: 4096 });
    const many = [...uris, ...uris, ...uris];
    const { results } = await createTestExecutor(small)(frameLease(folder, many), never);
    assert.deepEqual(
      results.map(({ source }) => source),
      many.map((_, i) => i),
    );
    assert.ok(batches.length >= 3);
    const once = await execute(frameLease(folder, many), never);
    assert.deepEqual(results, once.results);
  });
});

test('a frame larger than the device takes is set aside with a sentence', async () => {
  await withFolder(async (folder) => {
    const { uris } = await putFrames(folder);
    const { device: small } = noted(device, { maxStagingBytes: 2048 });
    const { results, errors } = await createTestExecutor(small)(frameLease(folder, uris), never);
    assert.deepEqual(
      results.map(({ source }) => source),
      [1, 2, 3],
    );
    assert.equal(errors[0]!.source, 0);
    assert.match(
      errors[0]!.error,
      /^64 x 48 pixels and their results are more than the device takes at once \(2048 bytes\); cut/,
    );
  });
});

test('an image smaller than a kernel is set aside with a sentence', async () => {
  await withFolder(async (folder) => {
    const size = { width: 5, height: 4 };
    const uri = await folder.put('small.pgm', patternImage(size, 1).file);
    const { uris } = await putFrames(folder);
    const pipeline = { operations: [{ kernel: 'conv', parameters: { kernel: 'box-21' }, border: '' }] };
    const error = 'A 5 x 4 image is smaller than the kernel, which needs 21 pixels a side';
    const frames = await execute(frameLease(folder, [uri, uris[0]!], { pipeline }), never);
    const tile = await execute(tileLease(folder, uri, size, { x: 1, y: 0, width: 2, height: 2 }, { pipeline }), never);
    for (const { errors } of [frames, tile])
      assert.deepEqual(errors, [{ source: 0, stage: 'read', error, cause: Cause.CONTENT }]);
    assert.deepEqual(
      frames.results.map(({ source }) => source),
      [1],
    );
  });
});

test('where neither counts nor dense results are wanted, inputs are decoded and counted', async () => {
  await withFolder(async (folder) => {
    const { uris } = await putFrames(folder);
    const { file } = patternImage({ width: 40, height: 40 }, 9);
    const cut = await folder.put('cut.pgm', file.subarray(0, 500));
    const pipeline = { operations: [lbp({ labels: 'var' })] };
    const { results, errors } = await execute(frameLease(folder, [uris[0]!, cut], { pipeline }), never);
    const rect = { x: 0, y: 0, width: 64, height: 48 };
    assert.deepEqual(results, [{ source: 0, width: 64, height: 48, rect, counted: 62 * 46, bins: [] }]);
    assert.deepEqual(
      errors.map(({ source, stage }) => [source, stage]),
      [[1, 'decode']],
    );
  });
});

test('floats are kept as they are, in maps and previews', async () => {
  await withFolder(async (folder) => {
    const size = { width: 30, height: 20 };
    const { file, image } = patternImage(size, 1, 3);
    const uri = await folder.put('a.ppm', file);
    const operations = [{ kernel: 'conv', parameters: { kernel: 'sobel-y', channels: 'rgb' }, border: 'mirror' }];
    const lease = { pipeline: { operations }, wantsMap: true, previews: 1 };
    const { results } = await execute(frameLease(folder, [uri], lease), never);
    const rect = { x: 0, y: 0, ...size };
    const { bins, map } = referenceOf(operations, image);
    assert.deepEqual(results[0]!.bins, bins);
    assert.deepEqual(await folder.map(operations, size, [rect]), map);
    // The preview of a small image is all of it.
    const preview = readFileSync(`${folder.path}/scratch/preview/0/0-0-30-20.f32`);
    assert.deepEqual(new Uint8Array(preview), map);
  });
});

test('no frames at all is an empty answer', async () => {
  await withFolder(async (folder) => {
    const { results, errors } = await execute(frameLease(folder, []), never);
    assert.deepEqual([results, errors], [[], []]);
  });
});

test('a lost device fails the shard and leaves no staging memory behind', async () => {
  await withFolder(async (folder) => {
    const { uris } = await putFrames(folder);
    const { device: lost, out } = noted(device, {
      async run(staging) {
        staging.release();
        throw new DeviceLostError('it is on fire');
      },
    });
    const run = createTestExecutor(lost);
    await assert.rejects(run(frameLease(folder, uris), never), DeviceLostError);
    const rect = { x: 0, y: 0, width: 20, height: 20 };
    await assert.rejects(run(tileLease(folder, uris[0]!, sizes[0]!, rect), never), DeviceLostError);
    assert.equal(out(), 0);
  });
});

test('a shard over which the device had no memory is tried once more, in batches of half the size', async () => {
  await withFolder(async (folder) => {
    const size = { width: 1024, height: 1024 };
    // 40 planes of a megabyte: one batch, or two of at most half the size.
    const { file } = patternImage(size, 1);
    const uris = await Promise.all(Array.from({ length: 40 }, (_, i) => folder.put(`${i}.pgm`, file)));
    const expected = await execute(frameLease(folder, uris), never);
    const batches: number[] = [];
    const { device: short } = noted(device, {
      batchBytes: 64 * 2 ** 20,
      async run(staging, items, pipeline, withMap) {
        batches.push(items.length);
        if (items.length < 40) return device.run(staging, items, pipeline, withMap);
        staging.release();
        throw new DeviceLostError('out of memory');
      },
    });
    const { results } = await createTestExecutor(short)(frameLease(folder, uris), never);
    assert.deepEqual(results, expected.results);
    assert.equal(batches.length, 3, `batches of ${batches}`);
  });
});

test('what is to be checked is computed by the twin, and not by the device', async () => {
  await withFolder(async (folder) => {
    const { uris } = await putFrames(folder);
    const { device: idle, batches } = noted(device);
    const twin = openTwinDevice();
    try {
      const run = createTestExecutor(idle, { twin });
      const { results } = await run(frameLease(folder, uris, { verify: true }), never);
      assert.deepEqual(results, (await execute(frameLease(folder, uris), never)).results);
      assert.equal(batches.length, 0);
    } finally {
      await twin.close();
    }
  });
});

test('pixels of a preview are not read from the memory of a GPU, which gets them all the same', async () => {
  await withFolder(async (folder) => {
    const { uris, frames } = await putFrames(folder);
    const ofDevice = new Set<ArrayBufferLike>();
    const info = { ...device.info, kind: 'gpu' as const };
    const acquire: Device['acquire'] = async (bytes) => {
      const staging = await device.acquire(bytes);
      ofDevice.add(staging.bytes.buffer);
      return staging;
    };
    const { device: gpu } = noted(device, { info, acquire });
    let pictures = 0;
    const run = createTestExecutor(gpu, {
      writeChunk: async (chunk, samples) => {
        if (chunk.kind === 'source') {
          assert.ok(!ofDevice.has(samples.bytes.buffer));
          pictures++;
        }
        await writeChunk(chunk, samples);
      },
    });
    const { results } = await run(frameLease(folder, uris, { wantsMap: true, previews: 2 }), never);
    for (const [i, frame] of frames.entries()) assert.deepEqual(results[i]!.bins, referenceOf([lbp()], frame).bins);
    const [size, rect] = [sizes[0]!, { x: 8, y: 8, width: 30, height: 20 }];
    const source = { index: 0, uri: uris[0]!, preview: true };
    await run(
      tileLease(folder, uris[0]!, size, rect, { work: { $case: 'tile', value: { source, ...size, rect } } }),
      never,
    );
    assert.equal(pictures, 3);
  });
});

test('a chunk that cannot be written fails the shard', async () => {
  await withFolder(async (folder) => {
    const { uris } = await putFrames(folder);
    await folder.put('scratch/map', 'a file where a folder should be');
    await assert.rejects(execute(frameLease(folder, uris, { wantsMap: true }), never), /ENOTDIR|EEXIST/);
  });
});

test('a lease that was taken back is given up at the next step', async () => {
  await withFolder(async (folder) => {
    const { uris } = await putFrames(folder);
    const { device: watched, batches, out } = noted(device);
    const abort = new AbortController();
    const run = createTestExecutor(watched, {
      openImage: async (uri) => {
        abort.abort(new Error('taken back'));
        return openImage(uri);
      },
    });
    await assert.rejects(run(frameLease(folder, uris), abort.signal), /taken back/);
    assert.deepEqual([batches.length, out()], [0, 0]);
  });
});

test('a lease of an unknown kernel fails with a sentence', async () => {
  await withFolder(async (folder) => {
    const pipeline = { operations: [{ kernel: 'blur', parameters: {}, border: '' }] };
    await assert.rejects(execute(frameLease(folder, [], { pipeline }), never), /received 'blur'/);
  });
});

test('an image that changed since it was planned is set aside with a sentence', async () => {
  await withFolder(async (folder) => {
    const { uris } = await putFrames(folder);
    const planned = { width: 65, height: 48 };
    for (const rect of [
      { x: 0, y: 0, width: 10, height: 10 },
      { x: 0, y: 0, ...planned },
    ]) {
      const { errors } = await execute(tileLease(folder, uris[0]!, planned, rect), never);
      const error = 'The image is 64 x 48 now and was 65 x 48 when the job was planned';
      assert.deepEqual(errors, [{ source: 0, stage: 'read', error, cause: Cause.CHANGED }]);
    }
  });
});

test('a tile of a file that is not the planned version, or is another one after it was read, is set aside', async () => {
  await withFolder(async (folder) => {
    const size = { width: 40, height: 40 };
    const [first, second] = [patternImage(size, 1).file, patternImage(size, 2).file];
    const rect = { x: 0, y: 0, width: 20, height: 20 };
    const opened = openedWhole().openImage;
    for (const open of [openImage, opened]) {
      const uri = await folder.put('a.pgm', first);
      const { version } = await openImage(uri);
      const ask = async (run: Executor) => {
        const source = { index: 0, uri, version };
        return run(
          tileLease(folder, uri, size, rect, { work: { $case: 'tile', value: { source, ...size, rect } } }),
          never,
        );
      };
      // As any image is opened, with its version; what it is read by is what differs.
      const versioned = async (of: string) => ({ ...(await open(of)), version: (await openImage(of)).version });
      assert.deepEqual((await ask(createTestExecutor(device, { openImage: versioned }))).errors, []);
      const whileRead = createTestExecutor(device, {
        openImage: async (of) => {
          const image = await versioned(of);
          const decode: OpenImage['decode'] = async (...args) => {
            await image.decode(...args);
            await folder.put('a.pgm', second);
          };
          return { ...image, decode };
        },
      });
      const afterwards = () => createTestExecutor(device, { openImage: versioned });
      for (const [i, run] of [whileRead, afterwards(), afterwards()].entries()) {
        // The last finds what a file looks like that is being written.
        if (i === 2) await folder.put('a.pgm', first.subarray(0, 7));
        const { errors, results } = await ask(run);
        assert.deepEqual(results, []);
        assert.match(errors[0]!.error, /^The file is not what it was when the job was planned/);
        assert.equal(errors[0]!.stage, 'read');
      }
    }
  });
});

test('a broken image quarantines every tile of it', async () => {
  await withFolder(async (folder) => {
    const size = { width: 40, height: 40 };
    const uri = await folder.put('cut.pgm', patternImage(size, 1).file.subarray(0, 500));
    for (const run of [execute, createTestExecutor(device, { openImage: openedWhole().openImage })]) {
      // The last rows are missing.
      const rect = { x: 0, y: 30, width: 10, height: 10 };
      const { errors } = await run(tileLease(folder, uri, size, rect), never);
      assert.equal(errors.length, 1);
    }
  });
});
