import assert from 'node:assert/strict';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Size } from '@halogrid/geometry';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import type { MapType } from '../layout/map-type.ts';
import { checkCogStructure } from '../testing/cog-structure.ts';
import {
  anyMapType,
  anySize,
  asSharpReads,
  copyStrip,
  levelsByDefinition,
  readWithSharp,
  someSamples,
  temporaryFolder,
} from '../testing/maps.ts';
import { CompressThreads } from './compress-threads.ts';
import { classicPlainBytes, deflateTiff } from './deflate-tiff.ts';
import { MapTiffWriter } from './map-tiff.ts';
import { mapTilePx } from './map-tiff-layout.ts';
import { buildPyramid, pyramidSizes } from './pyramid.ts';

// Worth its second: other tests of maps write no BigTIFF with compressed tiles, and look at no coarser level of one.

const threads = new CompressThreads(2);
after(() => threads.end());
const facts = { description: 'nw-cw-msb' };

test('another reader finds every sample of every level, in TIFF and in BigTIFF', async (t) => {
  const folder = await temporaryFolder(t);
  const [plain, path] = [join(folder, 'plain.tif'), join(folder, 'map.tif')];
  const check = async (size: Size, type: MapType, isBigTiff: boolean): Promise<void> => {
    for (const each of [plain, path]) await rm(each, { force: true });
    const classicBytes = isBigTiff ? 0 : classicPlainBytes;
    const sizes = pyramidSizes(size, mapTilePx);
    const samples = someSamples(size, type);
    const writer = await MapTiffWriter.create(plain, sizes, type, facts, classicBytes);
    await buildPyramid({
      sizes,
      type,
      kind: 'values',
      stripRows: mapTilePx,
      read: async (y, rows, strip) => copyStrip(samples, size, type, y, rows, strip),
      write: (level, y, rows, strip) => writer.writeRows(level, y, rows, strip),
    });
    await writer.finish();
    await deflateTiff(plain, path, { size, type, facts }, { threads, signal: undefined }, classicBytes);
    const file = await readFile(path);
    assert.equal(file[2], isBigTiff ? 43 : 42);
    assert.equal(checkCogStructure(file, file.length).length, sizes.length);
    for (const [page, level] of levelsByDefinition(samples, sizes, type, 'values').entries()) {
      const read = await readWithSharp(path, type, page);
      assert.ok(read.samples.equals(asSharpReads(level, type)), `level ${page}`);
    }
  };
  await fc.assert(fc.asyncProperty(anySize(70), anyMapType, fc.boolean(), check), { numRuns: repeated(3, 40) });
  await check({ width: 520, height: 1030 }, { sample: 'u16', bands: 2 }, true);
  await check({ width: 1100, height: 70 }, { sample: 'f32', bands: 1 }, false);
});
