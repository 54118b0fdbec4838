import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { openImage } from '@halogrid/imaging';
import { packKnown } from '@halogrid/results/known-sums';
import { CpuDevice } from '../devices/cpu-device.ts';
import {
  createTestExecutor,
  frameLease,
  lbp,
  openedWhole,
  packed,
  patternImage,
  referenceOf,
  type TestFolder,
  tileLease,
  tilesOf,
  withFolder,
} from './testing/shard-fixture.ts';

const device = new CpuDevice({ threads: 2, stagingBytes: 2 ** 20 });
after(() => device.close());
const never = new AbortController().signal;

const chains = {
  plain: [lbp()],
  smooth: [{ kernel: 'conv', parameters: { kernel: 'gaussian-5', as: 'u8' }, border: '' }, lbp()],
  derivative: [{ kernel: 'ldp', parameters: { order: '3' }, border: '' }],
};
const named = Object.entries(chains).map(([name, operations]) => ({ name, pipeline: { operations }, op: [] }));
const lease = { pipeline: undefined, pipelines: { named }, wantsMap: true };

async function makeScratch({ path }: TestFolder): Promise<void> {
  for (const name of Object.keys(chains)) await mkdir(join(path, 'scratch', 'pipelines', name), { recursive: true });
}

test('frames are decoded once for several pipelines, each has the results it would have alone, and the first has the capture time', async () => {
  await withFolder(async (folder) => {
    const size = { width: 40, height: 30 };
    const images = [0, 1, 2].map((seed) => patternImage(size, seed));
    const uris = await Promise.all(images.map(({ file }, i) => folder.put(`${i}.pgm`, file)));
    await makeScratch(folder);
    const whole = openedWhole();
    const captured = { localMs: 1_769_846_400_000, offsetMinutes: 60 };
    const openImage = async (uri: string) => Object.assign(await whole.openImage(uri), { captured });
    const execute = createTestExecutor(device, { openImage });
    const { results, errors } = await execute(frameLease(folder, uris, { ...lease, previews: 1 }), never);
    assert.deepEqual(errors, []);
    assert.equal(whole.decodes(), 3);
    const rect = { x: 0, y: 0, ...size };
    const expected = images.flatMap(({ image }, source) =>
      Object.values(chains).map((operations, pipeline) => {
        const { counted, bins } = referenceOf(operations, image);
        return { source, ...size, rect, counted, bins, ...(pipeline > 0 ? { pipeline } : { captured }) };
      }),
    );
    assert.deepEqual(results, expected);
  });
});

test('tiles of several pipelines: the region read is enough for all, and each pipeline has its own folder of maps', async () => {
  await withFolder(async (folder) => {
    const size = { width: 75, height: 50 };
    const { file, image } = patternImage(size, 3);
    const uri = await folder.put('a.pgm', file);
    await makeScratch(folder);
    const captured = { localMs: 1_769_846_400_000 };
    const openAt = async (uri: string) => Object.assign(await openImage(uri), { captured });
    const execute = createTestExecutor(device, { openImage: openAt });
    const rects = tilesOf(size, 20);
    const answers = await Promise.all(rects.map((rect) => execute(tileLease(folder, uri, size, rect, lease), never)));
    for (const { results } of answers) {
      assert.deepEqual(
        results.map((result) => result.captured),
        [captured, undefined, undefined],
      );
    }
    for (const [i, [name, operations]] of Object.entries(chains).entries()) {
      const whole = referenceOf(operations, image);
      const results = answers.map((answer) => answer.results[i]!);
      assert.equal(
        results.reduce((sum, { counted }) => sum + counted, 0),
        whole.counted,
        name,
      );
      const bins = whole.bins.map((_, bin) => results.reduce((sum, result) => sum + result.bins[bin]!, 0));
      assert.deepEqual(bins, whole.bins, name);
      const maps = await folder.map(operations, size, rects, 0, `pipelines/${name}`);
      assert.deepEqual(maps, whole.map, name);
    }
  });
});

test('a pipeline that knows every frame computes none, any other computes all', async () => {
  await withFolder(async (folder) => {
    const size = { width: 40, height: 30 };
    const images = [0, 1].map((seed) => patternImage(size, seed));
    const uris = await Promise.all(images.map(({ file }, i) => folder.put(`${i}.pgm`, file)));
    const execute = createTestExecutor(device);
    // Counts that no kernel finds show which results are known ones.
    const stated = (counted: number, bins: number) => ({ counted, bins: Array.from({ length: bins }, (_, i) => i) });
    const all = packKnown([stated(7, 256), undefined, stated(9, 1024)]);
    const some = packKnown([stated(8, 256), undefined, undefined]);
    const given = { ...lease, wantsMap: false };
    const ask = async (known: (Uint8Array | undefined)[]) => {
      const sources = packed(uris.map((uri, index) => ({ index, uri, known: known[index] })));
      const { results, errors } = await execute({ ...frameLease(folder, uris, given), sources }, never);
      assert.deepEqual(errors, []);
      return results.map(({ counted, bins }) => ({ counted, bins: Array.from(bins) }));
    };
    const own = images.map(({ image }) =>
      Object.values(chains).map((operations) => {
        const { counted, bins } = referenceOf(operations, image);
        return { counted, bins: Array.from(bins) };
      }),
    );
    const [first, second] = own as [(typeof own)[number], (typeof own)[number]];
    assert.deepEqual(await ask([all, all]), [
      ...[stated(7, 256), first[1], stated(9, 1024)],
      ...[stated(7, 256), second[1], stated(9, 1024)],
    ]);
    assert.deepEqual(await ask([all, some]), [stated(7, 256), ...first.slice(1), stated(8, 256), ...second.slice(1)]);
    assert.deepEqual(await ask([all, undefined]), [...first, ...second]);
    await assert.rejects(ask([all.subarray(1), all]), RangeError);
  });
});

test('an image that is too small for one of several pipelines is an error for all', async () => {
  await withFolder(async (folder) => {
    const uris = await Promise.all(
      [4, 5].map((height) => folder.put(`${height}.pgm`, patternImage({ width: 40, height }, 1).file)),
    );
    await makeScratch(folder);
    const { results, errors } = await createTestExecutor(device)(frameLease(folder, uris, lease), never);
    assert.deepEqual(
      errors.map(({ source, error }) => [source, error]),
      [[0, 'A 40 x 4 image is smaller than the kernel, which needs 5 pixels a side']],
    );
    assert.deepEqual(
      results.map(({ source }) => source),
      [1, 1, 1],
    );
  });
});

test('a lease whose pipelines take different channels, or without a pipeline, is refused with a sentence', async () => {
  await withFolder(async (folder) => {
    const execute = createTestExecutor(device);
    const colour = { kernel: 'conv', parameters: { kernel: 'sobel', channels: 'rgb' }, border: '' };
    const mixed = [...named, { name: 'colour', pipeline: { operations: [colour] }, op: [] }];
    const ask = (pipelines: { named: typeof named } | undefined) =>
      execute(frameLease(folder, [], { pipeline: undefined, pipelines }), never);
    await assert.rejects(ask({ named: mixed }), { message: 'The pipelines of the lease take different channels' });
    await assert.rejects(ask({ named: [] }), { message: 'The lease has no pipeline' });
  });
});
