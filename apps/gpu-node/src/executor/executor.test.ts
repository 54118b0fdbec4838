import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type OpenImage, openImage } from '@halogrid/imaging';
import { borderModes, type Rect, type Size } from '@halogrid/kernels';
import type { ShardCompleted } from '@halogrid/proto';
import fc from 'fast-check';
import { CpuDevice } from '../devices/cpu-device.ts';
import { type Device, DeviceLostError } from '../devices/device.ts';
import {
  createTestExecutor,
  frameLease,
  patternPgm,
  referenceOf,
  type TestFolder,
  tileLease,
  tilesOf,
  withFolder,
} from './shard-fixture.ts';

const device = new CpuDevice({ threads: 2 });
after(() => device.close());
const never = new AbortController().signal;
const execute = createTestExecutor(device);

/** The same images, but as if they could only be decoded whole; counts the decodes. */
function openedWhole(): { openImage: (uri: string) => Promise<OpenImage>; decodes: () => number } {
  let decodes = 0;
  return {
    decodes: () => decodes,
    openImage: async (uri) => {
      const image = await openImage(uri);
      return {
        format: image.format,
        width: image.width,
        height: image.height,
        readsRegions: false,
        get inputBytes() {
          return image.inputBytes;
        },
        decode: (region, target, offset, stride) => {
          decodes++;
          assert.deepEqual(region, { x: 0, y: 0, width: image.width, height: image.height });
          return image.decode(region, target, offset, stride);
        },
        close: () => image.close(),
      };
    },
  };
}

/** A device that notes its batches and what is out. */
function noted(inner: Device, changes: Partial<Device> = {}) {
  const batches: { items: number; withMap: boolean }[] = [];
  let out = 0;
  const device: Device = {
    info: inner.info,
    maxStagingBytes: inner.maxStagingBytes,
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

async function putFrames(folder: TestFolder): Promise<{ uris: string[]; frames: Uint8Array[] }> {
  const patterns = sizes.map((size, seed) => patternPgm(size, seed));
  const uris = await Promise.all(patterns.map(({ pgm }, i) => folder.put(`${i}.pgm`, pgm)));
  return { uris, frames: patterns.map(({ pixels }) => pixels) };
}

test('whole frames: histograms in the order of the lease, maps and previews where they are wanted', async () => {
  await withFolder(async (folder) => {
    const { uris, frames } = await putFrames(folder);
    const answer = await execute(frameLease(folder, uris, { wantsMap: true, previews: 2 }), never);
    const { jobId, shard, attempt, epoch } = answer;
    assert.deepEqual({ jobId, shard, attempt, epoch }, { jobId: 'job', shard: 3, attempt: 1, epoch: 5 });
    assert.deepEqual(answer.errors, []);
    for (const [i, size] of sizes.entries()) {
      const expected = referenceOf(frames[i]!, size, {}, 'interior');
      const rect = { x: 0, y: 0, ...size };
      const { counted, bins } = expected;
      assert.deepEqual(answer.results[i], { source: i, ...size, rect, counted, bins: Array.from(bins) });
      assert.deepEqual(await folder.map(i, size, [rect]), expected.map);
      const preview = new URL(`scratch/preview/${i}/`, `${pathToFileURL(folder.path).href}/`);
      assert.equal(existsSync(preview), i < 2);
    }
    const bytes = uris.reduce((sum, uri) => sum + readFileSync(fileURLToPath(uri)).length, 0);
    assert.ok(answer.inputBytes >= bytes);
    assert.deepEqual(Object.keys(answer.stageSeconds), ['read', 'decode', 'upload', 'compute', 'readback', 'encode']);
    for (const stage of ['read', 'decode', 'compute', 'encode']) assert.ok(answer.stageSeconds[stage]! > 0, stage);
  });
});

test('maps are asked of the device only where something needs codes', async () => {
  await withFolder(async (folder) => {
    const { uris } = await putFrames(folder);
    const { device: watched, batches } = noted(device);
    const run = createTestExecutor(watched);
    for (const lease of [{}, { previews: 1 }, { wantsMap: true }]) await run(frameLease(folder, uris, lease), never);
    assert.deepEqual(
      batches.map(({ withMap }) => withMap),
      [false, true, true],
    );
  });
});

test('inputs that cannot be processed are named, and the others are computed', async () => {
  await withFolder(async (folder) => {
    const { uris } = await putFrames(folder);
    const { pgm } = patternPgm({ width: 40, height: 40 }, 9);
    const cut = await folder.put('cut.pgm', pgm.subarray(0, 500));
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
    const { pgm } = patternPgm({ width: 40, height: 40 }, 9);
    const cut = await folder.put('cut.pgm', pgm.subarray(0, 500));
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
    assert.match(errors[0]!.error, /^64 x 48 pixels are more than the device takes at once \(2048 bytes\)/);
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
    const pipeline = { operations: [{ kernel: 'blur', parameters: {} }], border: 'zero' };
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
      assert.deepEqual(errors, [{ source: 0, stage: 'read', error }]);
    }
  });
});

test('tiles of an image that is decoded whole share one decode, also when they come at once', async () => {
  await withFolder(async (folder) => {
    const size = { width: 90, height: 70 };
    const uri = await folder.put('a.pgm', patternPgm(size, 1).pgm);
    const whole = openedWhole();
    const run = createTestExecutor(device, { openImage: whole.openImage });
    const answers = await Promise.all(tilesOf(size, 20).map((rect) => run(tileLease(folder, uri, size, rect), never)));
    assert.equal(whole.decodes(), 1);
    assert.equal(answers.filter(({ inputBytes }) => inputBytes > 0).length, 1);
  });
});

test('a broken image quarantines every tile of it', async () => {
  await withFolder(async (folder) => {
    const size = { width: 40, height: 40 };
    const uri = await folder.put('cut.pgm', patternPgm(size, 1).pgm.subarray(0, 500));
    for (const run of [execute, createTestExecutor(device, { openImage: openedWhole().openImage })]) {
      // The last rows are missing.
      const rect = { x: 0, y: 30, width: 10, height: 10 };
      const { errors } = await run(tileLease(folder, uri, size, rect), never);
      assert.equal(errors.length, 1);
    }
  });
});

/** Runs every tile and adds up the answers. */
async function runTiles(
  folder: TestFolder,
  uri: string,
  size: Size,
  rects: readonly Rect[],
  run: typeof execute,
  pipeline: { operations: { kernel: string; parameters: Record<string, string> }[]; border: string },
): Promise<{ counted: number; bins: number[]; map: Uint8Array }> {
  const lease = { pipeline, wantsMap: true };
  const answers: ShardCompleted[] = await Promise.all(
    rects.map((rect) => run(tileLease(folder, uri, size, rect, lease), never)),
  );
  const bins = new Array<number>(256).fill(0);
  let counted = 0;
  for (const { results, errors } of answers) {
    assert.deepEqual(errors, []);
    counted += results[0]!.counted;
    for (const [i, count] of results[0]!.bins.entries()) bins[i]! += count;
  }
  return { counted, bins, map: await folder.map(0, size, rects) };
}

test('property: any tiling gives the histogram and the map of the whole image', async () => {
  const cases = fc.record({
    size: fc.record({ width: fc.integer({ min: 1, max: 70 }), height: fc.integer({ min: 1, max: 70 }) }),
    tilesAcross: fc.integer({ min: 1, max: 10 }),
    border: fc.constantFrom(...borderModes),
    convention: fc.constantFrom('nw-cw-msb', 'nw-cw-lsb'),
    seed: fc.nat(1000),
    readsRegions: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(cases, async ({ size, tilesAcross, border, convention, seed, readsRegions }) => {
      await withFolder(async (folder) => {
        const { pgm, pixels } = patternPgm(size, seed);
        const uri = await folder.put('a.pgm', pgm);
        const run = readsRegions ? execute : createTestExecutor(device, { openImage: openedWhole().openImage });
        const pipeline = { operations: [{ kernel: 'lbp', parameters: { convention } }], border };
        const tilePx = Math.ceil(Math.max(size.width, size.height) / tilesAcross);
        const tiled = await runTiles(folder, uri, size, tilesOf(size, tilePx), run, pipeline);
        const expected = referenceOf(pixels, size, { convention }, border);
        assert.equal(tiled.counted, expected.counted);
        assert.deepEqual(tiled.bins, Array.from(expected.bins));
        assert.deepEqual(tiled.map, expected.map);
      });
    }),
    { numRuns: 60 },
  );
});

const oracle = new URL('../../../../../shared/oracle/', import.meta.url);
interface OracleCase {
  bit_order: string;
  border: string;
  histogram: number[];
  map_sha256: string;
}

test('every case of the oracle, in tiles of several sizes', { skip: !existsSync(oracle) }, async () => {
  const { width, height, square_lbp } = JSON.parse(readFileSync(new URL('expected/coins.json', oracle), 'utf8'));
  const size: Size = { width, height };
  const uri = new URL('images/coins.png', oracle).href;
  assert.ok(square_lbp.length >= 12);
  for (const { bit_order: convention, border, histogram, map_sha256 } of square_lbp as OracleCase[]) {
    for (const tilePx of [100, 512]) {
      await withFolder(async (folder) => {
        const pipeline = { operations: [{ kernel: 'lbp', parameters: { convention } }], border };
        const { bins, map } = await runTiles(folder, uri, size, tilesOf(size, tilePx), execute, pipeline);
        assert.deepEqual(bins, histogram, `${convention} ${border} ${tilePx}`);
        assert.equal(createHash('sha256').update(map).digest('hex'), map_sha256, `${convention} ${border} ${tilePx}`);
      });
    }
  }
});
