import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Size } from '@halogrid/geometry';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { chunkPath, piecesOf, writeChunk } from '../chunks/chunk.ts';
import type { MapType } from '../layout/map-type.ts';
import {
  anyMapType,
  anySize,
  asSharpReads,
  cut,
  readWithSharp,
  readZarr,
  sampleTypes,
  someSamples,
  temporaryFolder,
  within,
} from '../testing/maps.ts';
import { assembleMap, type MapOutput } from './assemble-map.ts';
import { CompressThreads } from './compress-threads.ts';
import { isZarr, type MapFormat, mapExtensions, pngCanHold, whyNotHeld } from './map-format.ts';

const u8: MapType = { sample: 'u8', bands: 1 };
const size = { width: 1030, height: 600 };

const formats = ['tiff', 'tiff:deflate', 'zarr', 'zarr:zstd', 'png', 'dzi'] as const satisfies readonly MapFormat[];

const threads = new CompressThreads(2);
after(() => threads.end());

test('the map has every sample in its place and the same bytes, however the image was cut', async (t) => {
  const folder = await temporaryFolder(t);
  const check = async (
    size: Size,
    type: MapType,
    tilePxs: number[],
    source: number,
    formats: MapFormat[],
  ): Promise<void> => {
    const samples = someSamples(size, type);
    for (const format of formats) {
      if (whyNotHeld(format, type, 256)) continue;
      const outputs: Record<string, string>[] = [];
      for (const tilePx of tilePxs) {
        const map = await writeMapChunks(folder, source, size, type, tilePx, format, samples);
        await assembleMap(map);
        outputs.push(await readMapFiles(folder));
      }
      if (format.startsWith('tiff') || format === 'png') {
        const read = await readWithSharp(join(folder, `map${mapExtensions[format]}`), type);
        assert.deepEqual(read.size, size);
        assert.ok(read.samples.equals(asSharpReads(samples, type)));
      }
      if (isZarr(format)) {
        const { arrays } = await readZarr(join(folder, 'map.zarr'), 1);
        assert.ok(Buffer.from(arrays[0]!.samples).equals(samples));
      }
      for (const output of outputs) assert.deepEqual(output, outputs[0]);
    }
  };
  let source = 0;
  await fc.assert(
    fc.asyncProperty(
      anySize(60),
      anyMapType,
      fc.tuple(fc.integer({ min: 10, max: 60 }), fc.integer({ min: 20, max: 60 })),
      (size, type, tilePxs) => check(size, type, tilePxs, source++, [...formats]),
    ),
    { numRuns: repeated(3, 12) },
  );
  await check(size, u8, [300, 512, 4096], source++, ['tiff', 'zarr']);
  await check(size, u8, [300, 4096], source++, ['tiff:deflate', 'zarr:zstd']);
  await check(size, { sample: 'u16', bands: 1 }, [512, 4096], source++, ['zarr', 'png']);
  await check(size, { sample: 'u8', bands: 3 }, [512, 4096], source++, ['tiff', 'png']);
});

test('a PNG holds one band of u8 or u16 or three of u8, and other maps are refused', async (t) => {
  const folder = await temporaryFolder(t);
  const held: string[] = [];
  for (const sample of sampleTypes) {
    for (const bands of [1, 2, 3, 4]) {
      const type = { sample, bands };
      if (pngCanHold(type)) held.push(`${sample} x ${bands}`);
      else {
        const map = await writeMapChunks(folder, 0, { width: 2, height: 1 }, type, 4096, 'png');
        await assert.rejects(
          assembleMap(map),
          /^Error: The map cannot be written, because a PNG cannot hold (a band|\d bands) of /,
        );
      }
    }
  }
  assert.deepEqual(held, ['u8 x 1', 'u8 x 3', 'u16 x 1']);
});

const cuts: { format: MapFormat; tilePx: number; kept: 'map' | 'shard'; lost: number }[] = [
  ...formats.map((format) => ({ format, tilePx: 512, kept: 'map' as const, lost: 4 })),
  { format: 'zarr', tilePx: 4096, kept: 'shard', lost: 0 },
  { format: 'zarr:zstd', tilePx: 4096, kept: 'shard', lost: 0 },
];

for (const { format, tilePx, kept, lost } of cuts) {
  const written = format === 'dzi' ? ['map.dzi', 'map_files'] : [`map${mapExtensions[format]}`];

  test(`${format} of ${kept} chunks: nothing but the map is left, and nothing at all if a chunk is missing`, async (t) => {
    const folder = await temporaryFolder(t);
    const map = await writeMapChunks(folder, 0, size, u8, tilePx, format);
    await assembleMap(map);
    assert.deepEqual((await readdir(folder)).sort(), [...written, kept].sort());
    for (const name of written) await rm(join(folder, name), { recursive: true });
    const chunk = chunkPath({ ...map, kind: kept, rect: map.rects[lost]! });
    await rm(chunk);
    await assert.rejects(assembleMap(map), { message: `The ${kept} chunk '${chunk}' is missing` });
    assert.deepEqual(await readdir(folder), [kept]);
  });

  test(`${format} of ${kept} chunks: an abort stops it and leaves nothing, at the start and half-way`, async (t) => {
    const folder = await temporaryFolder(t);
    const map = await writeMapChunks(folder, 0, size, u8, tilePx, format);
    await assert.rejects(assembleMap(map, AbortSignal.abort(new Error('cancelled'))), /cancelled/);
    assert.deepEqual(await readdir(folder), [kept]);
    const abort = new AbortController();
    const { signal } = abort;
    const check = signal.throwIfAborted.bind(signal);
    let begun = 0;
    signal.throwIfAborted = () => {
      // The signal is checked for the second time after some rows.
      if (begun > 0) abort.abort(new Error('cancelled'));
      begun = readdirSync(folder).length;
      check();
    };
    await assert.rejects(assembleMap(map, signal), /cancelled/);
    assert.ok(begun > 1, 'there was a beginning of the map');
    assert.deepEqual(await readdir(folder), [kept]);
  });

  test(`${format} of ${kept} chunks: an earlier file or folder of its name is replaced`, async (t) => {
    const folder = await temporaryFolder(t);
    const map = await writeMapChunks(folder, 0, size, u8, tilePx, format);
    await assembleMap(map);
    const expected = await readMapFiles(folder);
    for (const name of written) {
      await rm(join(folder, name), { recursive: true });
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, 'old'), '');
    }
    // A file cannot be renamed over a folder with entries, but anything can be moved aside.
    if (format === 'dzi') await rm(map.to, { recursive: true });
    await assembleMap(map);
    assert.deepEqual(await readMapFiles(folder), expected);
    assert.deepEqual((await readdir(folder)).sort(), [...written, kept].sort());
  });
}

test('a chunk of the wrong length is refused', async (t) => {
  const map = await writeMapChunks(await temporaryFolder(t), 0, size, { sample: 'u16', bands: 2 }, 4096, 'tiff');
  await truncate(chunkPath({ ...map, kind: 'map', rect: map.rects[0]! }), 1000);
  await assert.rejects(assembleMap(map), /holds 1000 bytes instead of 2472000/);
});

test('a Zarr of many shards is the same, whether it is made of shards or of chunks', async (t) => {
  const folder = await temporaryFolder(t);
  for (const [size, type, format, tilePxs] of [
    // Two by two shards. More tiles of less are in the others.
    [{ width: 4100, height: 4100 }, u8, 'zarr', [4096, 3000]],
    [{ width: 20, height: 9000 }, { sample: 'f32', bands: 3 }, 'zarr', [4096, 8192, 1000]],
    [{ width: 9000, height: 20 }, { sample: 'u16', bands: 2 }, 'zarr:zstd', [4096, 8192, 1000]],
  ] as const) {
    const samples = someSamples(size, type);
    const outputs: Record<string, string>[] = [];
    for (const tilePx of tilePxs) {
      await rm(join(folder, 'shard'), { recursive: true, force: true });
      const map = await writeMapChunks(folder, 0, size, type, tilePx, format, samples);
      assert.equal((await readdir(folder)).includes('shard'), tilePx % 4096 === 0);
      await assembleMap(map);
      outputs.push(hashed(await readMapFiles(folder)));
    }
    for (const output of outputs) assert.deepEqual(output, outputs[0]);
    // All are the same, so that one is enough.
    const { arrays } = await readZarr(join(folder, 'map.zarr'), 1);
    assert.ok(Buffer.from(arrays[0]!.samples).equals(samples));
  }
});

test('a shard that was cut short is refused', async (t) => {
  const map = await writeMapChunks(await temporaryFolder(t), 0, size, u8, 4096, 'zarr');
  await truncate(chunkPath({ ...map, kind: 'shard', rect: map.rects[0]! }), 1000);
  // 3 x 2 chunks of 512 x 512, an index of 3 x 2 entries and its checksum.
  await assert.rejects(assembleMap(map), /^Error: The shard chunk '.*' holds 1000 bytes instead of 1572964$/);
});

async function writeMapChunks(
  folder: string,
  source: number,
  size: Size,
  type: MapType,
  tilePx: number,
  format: MapFormat,
  samples = someSamples(size, type),
): Promise<MapOutput> {
  const rects = cut(size, tilePx);
  const scratch = pathToFileURL(folder).href;
  for (const rect of rects) {
    for (const piece of piecesOf(rect, size, type, isZarr(format))) {
      await writeChunk({ scratch, source, size, type, ...piece }, within(samples, size, type, piece.rect));
    }
  }
  const to = join(folder, `map${mapExtensions[format]}`);
  const facts = { description: 'nw-cw-msb', bandNames: [] };
  return { scratch, source, size, type, kind: 'labels', bins: 256, rects, to, format, threads, ...facts };
}

const hashed = (files: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(files).map(([path, text]) => [path, createHash('sha256').update(text).digest('hex')]),
  );

/** The contents of all files except chunks, as text, by path. */
async function readMapFiles(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files = paths.map((path) => relative(folder, path)).filter((path) => !/^(map|shard)[/\\]/.test(path));
  const contents = files.sort().map(async (path) => [path, await readFile(join(folder, path), 'latin1')] as const);
  return Object.fromEntries(await Promise.all(contents));
}
