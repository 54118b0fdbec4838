import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type OpenImage, openImage } from '@halogrid/imaging';
import { Cause } from '@halogrid/proto';
import { CpuDevice } from '../devices/cpu-device.ts';
import { DeviceLostError } from '../devices/device.ts';
import type { Executor } from './executor.ts';
import { noted } from './testing/noted-device.ts';
import { putFrames, sizes } from './testing/put-frames.ts';
import {
  createTestExecutor,
  frameLease,
  openedWhole,
  patternImage,
  tileLease,
  withFolder,
  withSource,
} from './testing/shard-fixture.ts';

const device = new CpuDevice({ threads: 2 });
after(() => device.close());
const never = new AbortController().signal;
const execute = createTestExecutor(device);

test('a grid whose histograms are too many fails with a sentence', async () => {
  await withFolder(async (folder) => {
    const lease = frameLease(folder, [], { grid: { rows: 1000, columns: 1000 } });
    await assert.rejects(execute(lease, never), /Expected at most 262144 cells .* received '1000x1000'/);
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

test('if no frame can be decoded, no staging memory stays out', async () => {
  await withFolder(async (folder) => {
    const { file } = patternImage({ width: 40, height: 40 }, 9);
    const cut = await folder.put('cut.pgm', file.subarray(0, 500));
    const { device: watched, out } = noted(device);
    const { errors } = await createTestExecutor(watched)(frameLease(folder, [cut, cut]), never);
    assert.equal(errors.length, 2);
    assert.equal(out(), 0);
  });
});

test('a frame too large for the device is set aside with a sentence', async () => {
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

test('a lost device fails the shard and leaves no staging memory out', async () => {
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

test('a shard for which the device had too little memory is tried once more, in batches of half the size', async () => {
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

async function versionOf(uri: string): Promise<string | undefined> {
  const image = await openImage(uri);
  await image.close();
  return image.version;
}

test('a tile is set aside if its file is not the planned version, or has changed after it was read', async () => {
  await withFolder(async (folder) => {
    const size = { width: 40, height: 40 };
    const [first, second] = [patternImage(size, 1).file, patternImage(size, 2).file];
    const rect = { x: 0, y: 0, width: 20, height: 20 };
    const opened = openedWhole().openImage;
    for (const open of [openImage, opened]) {
      const uri = await folder.put('a.pgm', first);
      const version = await versionOf(uri);
      const ask = async (run: Executor) => {
        return run(withSource(tileLease(folder, uri, size, rect), 0, { pin: version! }), never);
      };
      // Opened like any image, with its version. The way it is read then differs.
      const versioned = async (of: string) => ({ ...(await open(of)), version: await versionOf(of) });
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
        // The last executor finds a file that looks as if it were being written.
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
