import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createPipeline } from '@halogrid/kernels';
import { writeChunk } from '@halogrid/results';
import { allCells } from '@halogrid/results/histogram-shape';
import { CpuDevice, openTwinDevice } from '../devices/cpu-device.ts';
import type { NodeDevice } from '../devices/device.ts';
import { segmentsUnderWay } from './executor.ts';
import { noted } from './testing/noted-device.ts';
import { putFrames, sizes } from './testing/put-frames.ts';
import {
  createTestExecutor,
  frameLease,
  lbp,
  patternImage,
  referenceOf,
  tileLease,
  withFolder,
  withSource,
} from './testing/shard-fixture.ts';

const device = new CpuDevice({ threads: 2 });
after(() => device.close());
const never = new AbortController().signal;
const execute = createTestExecutor(device);

test('whole frames: histograms in the order of the lease, maps and previews if they are wanted', async () => {
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
      // A small image is kept whole, as it was decoded.
      const original = fileURLToPath(new URL(`scratch/sums/${i}/0-0-${size.width}-${size.height}.u8`, folderUrl));
      assert.equal(existsSync(original), i < 2);
      if (i < 2) assert.deepEqual(new Uint8Array(readFileSync(original)), frames[i]!.pixels);
    }
    const bytes = uris.reduce((sum, uri) => sum + readFileSync(fileURLToPath(uri)).length, 0);
    assert.ok(answer.inputBytes >= bytes);
    assert.deepEqual(Object.keys(answer.stageSeconds), ['read', 'decode', 'upload', 'compute', 'readback', 'encode']);
    for (const stage of ['read', 'decode', 'compute', 'encode']) assert.ok(answer.stageSeconds[stage]! > 0, stage);
    const { shard: whole, read, decode, device: computing, encode, ...binding } = answer.busySeconds;
    for (const seconds of [read, decode, computing, encode]) assert.ok(seconds! > 0 && seconds! <= whole!);
    const bound = Object.values(binding).reduce((sum, seconds) => sum + seconds, 0);
    assert.ok(Math.abs(bound - whole!) < 1e-6, JSON.stringify(answer.busySeconds));
  });
});

test('frames of 8 and of 16 bits in one lease are each computed at their depth', async () => {
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

test('16-bit images that as=u8 cuts are counted, one by one and in tiles', async () => {
  await withFolder(async (folder) => {
    const size = { width: 30, height: 20 };
    const files = (['u8', 'u16', 'u16'] as const).map((pixel, seed) => patternImage(size, seed, 1, pixel).file);
    const uris = await Promise.all(files.map((file, i) => folder.put(`${i}.pgm`, file)));
    const withAs = (as: string) => ({
      pipeline: {
        operations: [{ kernel: 'conv', parameters: { kernel: 'gaussian-3', as }, border: 'replicate' }],
      },
    });
    const remark = /^as=u8 cut results of 16-bit samples at 255; .* --scale MIN,MAX /;
    const { mended } = await execute(frameLease(folder, uris, withAs('u8')), never);
    assert.deepEqual(
      mended!.kinds.map(({ sources, source }) => [sources, source]),
      [[2, 1]],
    );
    assert.match(mended!.kinds[0]!.mended, remark);
    assert.equal((await execute(frameLease(folder, uris, withAs('i16')), never)).mended, undefined);
    const tile = { x: 0, y: 0, width: 30, height: 10 };
    const answer = await execute(tileLease(folder, uris[1]!, size, tile, withAs('u8')), never);
    assert.match(answer.mended!.kinds[0]!.mended, remark);
  });
});

test('a grid: the histogram of every cell of each frame', async () => {
  await withFolder(async (folder) => {
    const { uris, frames } = await putFrames(folder);
    const grid = { rows: 5, columns: 3 };
    const { results } = await execute(frameLease(folder, uris, { grid }), never);
    for (const [i, { bins }] of results.entries()) {
      const shape = { grid, channels: 1, bins: createPipeline([lbp()]).bins };
      assert.deepEqual(bins, allCells(shape, sizes[i]!, referenceOf([lbp()], frames[i]!, grid).bins));
    }
  });
});

test('the device is asked for dense results only if they are needed', async () => {
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

test('if neither counts nor dense results are wanted, inputs are decoded and counted', async () => {
  await withFolder(async (folder) => {
    const { uris } = await putFrames(folder);
    const { file } = patternImage({ width: 40, height: 40 }, 9);
    const cut = await folder.put('cut.pgm', file.subarray(0, 500));
    const pipeline = { operations: [lbp({ labels: 'var' })] };
    const { results, errors } = await execute(frameLease(folder, [uris[0]!, cut], { pipeline }), never);
    const rect = { x: 0, y: 0, width: 64, height: 48 };
    assert.deepEqual(results, [{ source: 0, width: 64, height: 48, rect, counted: 62 * 46, bins: new Uint32Array() }]);
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
    // The preview of a small image is the whole image.
    const preview = readFileSync(`${folder.path}/scratch/preview/0/0-0-30-20.f32`);
    assert.deepEqual(new Uint8Array(preview), map);
  });
});

test('a lease without frames has an empty answer', async () => {
  await withFolder(async (folder) => {
    const { results, errors } = await execute(frameLease(folder, []), never);
    assert.deepEqual([results, errors], [[], []]);
  });
});

test('a lease to verify is computed by the twin, and not by the device', async () => {
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

test("pixels of a preview are not read back from a GPU's memory, and the GPU gets them too", async () => {
  await withFolder(async (folder) => {
    const { uris, frames } = await putFrames(folder);
    const ofDevice = new Set<ArrayBufferLike>();
    const info = { ...device.info, kind: 'gpu' as const };
    const acquire: NodeDevice['acquire'] = async (bytes) => {
      const staging = await device.acquire(bytes);
      ofDevice.add(staging.bytes.buffer);
      return staging;
    };
    const { device: gpu } = noted(device, { info, acquire });
    let pictures = 0;
    const run = createTestExecutor(gpu, {
      writeChunk: async (chunk, samples) => {
        if (chunk.kind === 'sums') {
          assert.ok(!ofDevice.has(samples.bytes.buffer));
          pictures++;
        }
        await writeChunk(chunk, samples);
      },
    });
    const { results } = await run(frameLease(folder, uris, { wantsMap: true, previews: 2 }), never);
    for (const [i, frame] of frames.entries()) assert.deepEqual(results[i]!.bins, referenceOf([lbp()], frame).bins);
    const [size, rect] = [sizes[0]!, { x: 8, y: 8, width: 30, height: 20 }];
    await run(withSource(tileLease(folder, uris[0]!, size, rect), 0, { preview: true }), never);
    assert.equal(pictures, 3);
  });
});

test('each video decoder has a further segment waiting, and if there are few decoders, four wait in all', () => {
  assert.deepEqual([1, 2, 4, 16].map(segmentsUnderWay), [5, 6, 8, 32]);
});
