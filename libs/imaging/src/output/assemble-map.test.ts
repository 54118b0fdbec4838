import assert from 'node:assert/strict';
import { readdir, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { assembleMap, type MapOutput, pngCanHold } from './assemble-map.ts';
import { chunkPath, writeChunk } from './chunk.ts';
import type { MapType } from './map-type.ts';
import type { Size } from './size.ts';
import {
  anyMapType,
  anySize,
  asSharpReads,
  cut,
  readWithSharp,
  sampleTypes,
  someSamples,
  temporaryFolder,
  within,
} from './testing.ts';

const u8: MapType = { sample: 'u8', bands: 1 };
const size = { width: 1300, height: 700 };

test('the map has every sample in its place and the same bytes, however the image was cut', async (t) => {
  const folder = await temporaryFolder(t);
  const check = async (size: Size, type: MapType, tilePxs: number[], source: number): Promise<void> => {
    const samples = someSamples(size, type);
    for (const format of ['tiff', 'png'] as const) {
      if (format === 'png' && !pngCanHold(type)) continue;
      const files: Buffer[] = [];
      for (const tilePx of tilePxs) {
        const map = await writeMapChunks(folder, source, size, type, tilePx, format);
        await assembleMap(map);
        files.push(await readFile(map.to));
      }
      const read = await readWithSharp(join(folder, `map.${format}`), type);
      assert.deepEqual(read.size, size);
      assert.ok(read.samples.equals(asSharpReads(samples, type)));
      for (const file of files) assert.ok(file.equals(files[0]!));
    }
  };
  let source = 0;
  await fc.assert(
    fc.asyncProperty(
      anySize(60),
      anyMapType,
      fc.tuple(fc.integer({ min: 10, max: 60 }), fc.integer({ min: 20, max: 60 })),
      (size, type, tilePxs) => check(size, type, tilePxs, source++),
    ),
    { numRuns: 25 },
  );
  await check(size, u8, [100, 512, 4096], source++);
  await check(size, { sample: 'u16', bands: 1 }, [512, 4096], source++);
  await check(size, { sample: 'u8', bands: 3 }, [512, 4096], source++);
});

test('a PNG holds one band of u8 or u16 or three of u8, and nothing else is reduced to that', async (t) => {
  const folder = await temporaryFolder(t);
  const held: string[] = [];
  for (const sample of sampleTypes) {
    for (const bands of [1, 2, 3, 4]) {
      const type = { sample, bands };
      if (pngCanHold(type)) held.push(`${sample} x ${bands}`);
      else {
        const map = await writeMapChunks(folder, 0, { width: 2, height: 1 }, type, 4096, 'png');
        await assert.rejects(assembleMap(map), /^Error: A PNG holds one band of u8 or u16 or three of u8, not \d of /);
      }
    }
  }
  assert.deepEqual(held, ['u8 x 1', 'u8 x 3', 'u16 x 1']);
});

test('nothing but the map is left, and nothing at all where a chunk is missing', async (t) => {
  const folder = await temporaryFolder(t);
  const map = await writeMapChunks(folder, 0, size, u8, 512, 'png');
  await assembleMap(map);
  assert.deepEqual((await readdir(folder)).sort(), ['map', 'map.png']);
  await rm(map.to);
  await rm(chunkPath({ ...map, kind: 'map', rect: map.rects[4]! }));
  await assert.rejects(assembleMap(map), /^Error: The map chunk '.*512-512-512-188.u8' is missing$/);
  assert.deepEqual(await readdir(folder), ['map']);
});

test('a chunk of the wrong length is refused', async (t) => {
  const map = await writeMapChunks(await temporaryFolder(t), 0, size, { sample: 'u16', bands: 2 }, 4096, 'tiff');
  await truncate(chunkPath({ ...map, kind: 'map', rect: map.rects[0]! }), 1000);
  await assert.rejects(assembleMap(map), /holds 1000 bytes instead of 3640000/);
});

test('an abort stops it and leaves nothing', async (t) => {
  const folder = await temporaryFolder(t);
  const map = await writeMapChunks(folder, 0, size, u8, 512, 'tiff');
  await assert.rejects(assembleMap(map, AbortSignal.abort(new Error('cancelled'))), /cancelled/);
  assert.deepEqual(await readdir(folder), ['map']);
});

async function writeMapChunks(
  folder: string,
  source: number,
  size: Size,
  type: MapType,
  tilePx: number,
  format: 'tiff' | 'png',
): Promise<MapOutput> {
  const rects = cut(size, tilePx);
  const scratch = pathToFileURL(folder).href;
  const samples = someSamples(size, type);
  for (const rect of rects) {
    await writeChunk({ scratch, kind: 'map', source, size, type, rect }, within(samples, size, type, rect));
  }
  const to = join(folder, `map.${format}`);
  return { scratch, source, size, type, rects, to, format, description: 'nw-cw-msb' };
}
