import assert from 'node:assert/strict';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Size, sampleBytes } from '@halogrid/geometry';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import sharp from 'sharp';
import { bytesPerPixel, type MapType } from '../layout/map-type.ts';
import { checkCogStructure } from '../testing/cog-structure.ts';
import {
  anyMapType,
  anySize,
  asSharpReads,
  copyStrip,
  levelsByDefinition,
  readWithSharp,
  sampleTypes,
  someSamples,
  temporaryFolder,
} from '../testing/maps.ts';
import { MapTiffWriter } from './map-tiff.ts';
import { classicTiffBytes, layOutMapTiff, mapTilePx } from './map-tiff-layout.ts';
import { buildPyramid, pyramidSizes, stripRows } from './pyramid.ts';

const u8: MapType = { sample: 'u8', bands: 1 };

test('another reader finds every sample of any map, in TIFF and in BigTIFF', async (t) => {
  const path = join(await temporaryFolder(t), 'map.tif');
  const check = async (size: Size, type: MapType, isBigTiff: boolean): Promise<void> => {
    await rm(path, { force: true });
    const samples = someSamples(size, type);
    await writeTiff(path, size, type, samples, isBigTiff ? 0 : undefined);
    const levels = levelsByDefinition(samples, pyramidSizes(size, mapTilePx), type, 'values');
    const file = await readFile(path);
    assert.equal((await sharp(file).metadata()).pages ?? 1, levels.length);
    for (const [page, level] of levels.entries()) {
      const read = await readWithSharp(path, type, page);
      assert.deepEqual(read.size, pyramidSizes(size, mapTilePx)[page]);
      assert.ok(read.samples.equals(asSharpReads(level, type)));
    }
    assert.equal(file[2], isBigTiff ? 43 : 42);
    checkCogStructure(file, (await stat(path)).size, bytesPerPixel(type));
  };
  await fc.assert(fc.asyncProperty(anySize(70), anyMapType, fc.boolean(), check), {
    numRuns: repeated(5, 40),
  });
  const table: [width: number, height: number, type: MapType][] = [
    [512, 512, u8],
    [513, 511, u8],
    [511, 1025, { sample: 'u16', bands: 1 }],
    [520, 1030, { sample: 'f32', bands: 2 }],
    [2100, 70, { sample: 'u8', bands: 3 }],
  ];
  for (const [width, height, type] of table) await check({ width, height }, type, false);
});

test('the file of any map is laid out as a Cloud Optimized GeoTIFF', () => {
  const check = (size: Size, type: MapType, classicBytes: number): void => {
    const sizes = pyramidSizes(size, mapTilePx);
    const { head, fileBytes } = layOutMapTiff(sizes, type, { description: 'nw-cw-msb' }, classicBytes);
    const directories = checkCogStructure(head, fileBytes, bytesPerPixel(type));
    const found = directories.map(({ width, height }) => ({ width, height }));
    assert.deepEqual(found, sizes);
    const { tileWidth, tileHeight, tileOffsets } = directories.at(-1)!;
    assert.ok(tileWidth <= 512 && tileHeight <= 512 && tileOffsets.length === 1);
  };
  fc.assert(fc.property(anySize(20_000), anyMapType, fc.constantFrom(0, classicTiffBytes), check), { numRuns: 60 });
  check({ width: 60_000, height: 40_000 }, u8, classicTiffBytes);
  check({ width: 70_000, height: 50_000 }, { sample: 'f32', bands: 3 }, classicTiffBytes);
});

test('an image with very long rows is written in strips of fewer rows than a tile has', async (t) => {
  const path = join(await temporaryFolder(t), 'map.tif');
  const type: MapType = { sample: 'f32', bands: 2 };
  const size = { width: 70_000, height: 33 };
  const samples = someSamples(size, type);
  assert.equal(stripRows(size.width, type, mapTilePx), 32);
  await writeTiff(path, size, type, samples, undefined);
  assert.ok((await readWithSharp(path, type)).samples.equals(samples));
});

test('three bands of bytes are RGB, and no other band is taken for colour', async (t) => {
  const folder = await temporaryFolder(t);
  for (const sample of sampleTypes) {
    for (const bands of [1, 2, 3, 4]) {
      const path = join(folder, `${sample}-${bands}.tif`);
      const type: MapType = { sample, bands };
      await writeTiff(path, { width: 2, height: 1 }, type, someSamples({ width: 2, height: 1 }, type), undefined);
      const gray = sampleBytes[sample] === 2 ? 'grey16' : 'b-w';
      assert.equal((await sharp(path).metadata()).space, sample === 'u8' && bands === 3 ? 'srgb' : gray);
    }
  }
});

test('a map of more than 4 GB is BigTIFF, one that just fits is not', () => {
  const isBigTiff = (width: number, type: MapType, height = 65536): boolean =>
    layOutMapTiff([{ width, height }], type, { description: '' }).isBigTiff;
  assert.equal(isBigTiff(65024, u8), false);
  assert.equal(isBigTiff(65536, u8), true);
  assert.equal(isBigTiff(15872, { sample: 'f32', bands: 1 }), false);
  assert.equal(isBigTiff(16384, { sample: 'f32', bands: 1 }), true);
  assert.equal(isBigTiff(16384, { sample: 'u8', bands: 4 }), true);
  const size = { width: 65024, height: 65536 };
  assert.equal(layOutMapTiff(pyramidSizes(size, mapTilePx), u8, { description: '' }).isBigTiff, true);
});

test('the file names its convention and its writer', async (t) => {
  const path = join(await temporaryFolder(t), 'map.tif');
  await writeTiff(path, { width: 2, height: 1 }, u8, Uint8Array.of(1, 2), undefined);
  const text = (await readFile(path)).toString('latin1');
  assert.ok(text.includes('nw-cw-msb\0'));
  assert.ok(text.includes('halogrid\0'));
});

/** A map of values and its coarser levels. */
async function writeTiff(
  path: string,
  size: Size,
  type: MapType,
  samples: Uint8Array,
  classicBytes: number | undefined,
): Promise<void> {
  const sizes = pyramidSizes(size, mapTilePx);
  const writer = await MapTiffWriter.create(path, sizes, type, { description: 'nw-cw-msb' }, classicBytes);
  await buildPyramid({
    sizes,
    type,
    kind: 'values',
    stripRows: stripRows(size.width, type, mapTilePx),
    read: async (y, rows, strip) => copyStrip(samples, size, type, y, rows, strip),
    write: (level, y, rows, strip) => writer.writeRows(level, y, rows, strip),
  });
  await writer.finish();
}
