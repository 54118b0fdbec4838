import assert from 'node:assert/strict';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import sharp from 'sharp';
import { MapTiffWriter } from './map-tiff.ts';
import { layOutMapTiff } from './map-tiff-layout.ts';
import { type MapType, sampleBytes } from './map-type.ts';
import type { Size } from './size.ts';
import {
  anyMapType,
  anySize,
  asSharpReads,
  readWithSharp,
  sampleTypes,
  someSamples,
  temporaryFolder,
} from './testing.ts';

const u8: MapType = { sample: 'u8', bands: 1 };

test('another reader finds every sample of any map, in TIFF and in BigTIFF', async (t) => {
  const path = join(await temporaryFolder(t), 'map.tif');
  const check = async (size: Size, type: MapType, isBigTiff: boolean): Promise<void> => {
    await rm(path, { force: true });
    const samples = someSamples(size, type);
    await writeTiff(path, size, type, samples, isBigTiff ? 0 : undefined);
    const read = await readWithSharp(path, type);
    assert.deepEqual(read.size, size);
    assert.ok(read.samples.equals(asSharpReads(samples, type)));
    assert.equal((await readFile(path))[2], isBigTiff ? 43 : 42);
    const { fileBytes } = layOutMapTiff(size, type, 'nw-cw-msb', 'halogrid', isBigTiff ? 0 : undefined);
    assert.equal((await stat(path)).size, fileBytes);
  };
  await fc.assert(fc.asyncProperty(anySize(70), anyMapType, fc.boolean(), check), {
    numRuns: 40,
  });
  const table: [width: number, height: number, type: MapType][] = [
    [512, 512, u8],
    [513, 511, u8],
    [511, 1025, { sample: 'u16', bands: 1 }],
    [600, 1030, { sample: 'f32', bands: 4 }],
    [1030, 520, { sample: 'u8', bands: 3 }],
  ];
  for (const [width, height, type] of table) await check({ width, height }, type, false);
});

test('an image whose rows are very long is written in strips of fewer rows than a tile has', async (t) => {
  const path = join(await temporaryFolder(t), 'map.tif');
  const type: MapType = { sample: 'f32', bands: 2 };
  const size = { width: 140_000, height: 33 };
  const samples = someSamples(size, type);
  const stripRows = await writeTiff(path, size, type, samples, undefined);
  assert.equal(stripRows, 32);
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
  const isBigTiff = (width: number, type: MapType): boolean =>
    layOutMapTiff({ width, height: 65536 }, type, '', 'halogrid').isBigTiff;
  assert.equal(isBigTiff(65024, u8), false);
  assert.equal(isBigTiff(65536, u8), true);
  assert.equal(isBigTiff(15872, { sample: 'f32', bands: 1 }), false);
  assert.equal(isBigTiff(16384, { sample: 'f32', bands: 1 }), true);
  assert.equal(isBigTiff(16384, { sample: 'u8', bands: 4 }), true);
});

test('the file names its convention and its writer', async (t) => {
  const path = join(await temporaryFolder(t), 'map.tif');
  await writeTiff(path, { width: 2, height: 1 }, u8, Uint8Array.of(1, 2), undefined);
  const text = (await readFile(path)).toString('latin1');
  assert.ok(text.includes('nw-cw-msb\0'));
  assert.ok(text.includes('halogrid\0'));
});

/** Returns the number of rows of a strip. */
async function writeTiff(
  path: string,
  { width, height }: Size,
  type: MapType,
  samples: Uint8Array,
  classicBytes: number | undefined,
): Promise<number> {
  const writer = await MapTiffWriter.create(path, { width, height }, type, 'nw-cw-msb', classicBytes);
  const rowBytes = width * sampleBytes[type.sample];
  for (let y = 0; y < height; y += writer.stripRows) {
    const rows = Math.min(writer.stripRows, height - y);
    const strip = Array.from({ length: type.bands }, (_, band) => {
      const from = (band * height + y) * rowBytes;
      return samples.subarray(from, from + rows * rowBytes);
    });
    await writer.writeStrip(new Uint8Array(Buffer.concat(strip)));
  }
  await writer.finish();
  return writer.stripRows;
}
