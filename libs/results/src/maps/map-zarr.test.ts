import assert from 'node:assert/strict';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Size } from '@halogrid/geometry';
import { crc32c } from '@halogrid/sources/crc32c';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import type { MapKind, MapType } from '../layout/map-type.ts';
import { zarrChunkPx } from '../layout/map-zarr-layout.ts';
import {
  anyMapType,
  anySize,
  copyStrip,
  levelsByDefinition,
  readZarr,
  someSamples,
  temporaryFolder,
} from '../testing/maps.ts';
import { MapZarrWriter } from './map-zarr.ts';
import { buildPyramid, pyramidSizes } from './pyramid.ts';

const u8: MapType = { sample: 'u8', bands: 1 };
const dataTypes = { u8: 'uint8', u16: 'uint16', u32: 'uint32', i16: 'int16', f32: 'float32' };

test('another reader finds every sample of every level of any map', async (t) => {
  const path = join(await temporaryFolder(t), 'map.zarr');
  const check = async (size: Size, type: MapType, kind: MapKind, stripRows: number): Promise<void> => {
    await rm(path, { recursive: true, force: true });
    const samples = someSamples(size, type);
    const sizes = await writeZarr(path, size, type, kind, samples, stripRows);
    const levels = levelsByDefinition(samples, sizes, type, kind);
    const { arrays } = await readZarr(path, levels.length);
    for (const [i, { array, samples: read }] of arrays.entries()) {
      const { width, height } = sizes[i]!;
      assert.deepEqual(array.shape, type.bands > 1 ? [type.bands, height, width] : [height, width]);
      assert.deepEqual(array.dimensionNames, type.bands > 1 ? ['c', 'y', 'x'] : ['y', 'x']);
      assert.equal(array.dtype, dataTypes[type.sample]);
      assert.ok(Buffer.from(read).equals(levels[i]!), `level ${i}`);
    }
  };
  const anyKind = fc.constantFrom<MapKind>('labels', 'values');
  await fc.assert(fc.asyncProperty(anySize(70), anyMapType, anyKind, fc.constantFrom(2, 16, 512), check), {
    numRuns: repeated(5, 30),
  });
  await check({ width: 512, height: 513 }, u8, 'labels', 512);
  await check({ width: 520, height: 1030 }, { sample: 'f32', bands: 3 }, 'values', 64);
  await check({ width: 4700, height: 70 }, u8, 'labels', 512);
  await check({ width: 70, height: 8300 }, { sample: 'u16', bands: 2 }, 'labels', 256);
});

test('the group has what OME-Zarr 0.5 requires', async (t) => {
  const path = join(await temporaryFolder(t), 'map.zarr');
  const size = { width: 1300, height: 20 };
  const type: MapType = { sample: 'i16', bands: 3 };
  await writeZarr(path, size, type, 'values', someSamples(size, type));
  const { attrs } = await readZarr(path, 0);
  const scale = (scale: number[]) => ({ type: 'scale', scale });
  const translation = (translation: number[]) => ({ type: 'translation', translation });
  assert.deepEqual(attrs, {
    ome: {
      version: '0.5',
      multiscales: [
        {
          name: 'map',
          axes: [
            { name: 'c', type: 'channel' },
            { name: 'y', type: 'space' },
            { name: 'x', type: 'space' },
          ],
          datasets: [
            { path: '0', coordinateTransformations: [scale([1, 1, 1])] },
            { path: '1', coordinateTransformations: [scale([1, 2, 2]), translation([0, 0.5, 0.5])] },
            { path: '2', coordinateTransformations: [scale([1, 4, 4]), translation([0, 1.5, 1.5])] },
          ],
          type: 'mean',
          metadata: { method: 'the mean of 2 x 2 pixels of the level below' },
        },
      ],
    },
    halogrid: { description: 'nw-cw-msb' },
  });
});

test('a shard has its chunks in order, and an index at the end with its checksum', async (t) => {
  const path = join(await temporaryFolder(t), 'map.zarr');
  await writeZarr(path, { width: 4700, height: 700 }, u8, 'labels', new Uint8Array(4700 * 700));
  assert.deepEqual((await readdir(join(path, '0', 'c', '0'))).sort(), ['0', '1']);
  // The second shard has 2 of 8 chunks in x, both of 2 in y.
  const shard = await readFile(join(path, '0', 'c', '0', '1'));
  const chunkBytes = 512 * 512;
  assert.equal(shard.length, 4 * chunkBytes + 16 * 16 + 4);
  const index = shard.subarray(4 * chunkBytes, -4);
  assert.equal(shard.readUInt32LE(shard.length - 4), crc32c(index));
  const entries = Array.from({ length: 16 }, (_, i) => [
    index.readBigUInt64LE(16 * i),
    index.readBigUInt64LE(16 * i + 8),
  ]);
  const absent = [2n ** 64n - 1n, 2n ** 64n - 1n];
  const row = (first: number) => [
    ...[first, first + 1].map((i) => [BigInt(i * chunkBytes), BigInt(chunkBytes)]),
    ...Array(6).fill(absent),
  ];
  assert.deepEqual(entries, [...row(0), ...row(2)]);
});

async function writeZarr(
  path: string,
  size: Size,
  type: MapType,
  kind: MapKind,
  samples: Uint8Array,
  stripRows = 512,
): Promise<Size[]> {
  const sizes = pyramidSizes(size, zarrChunkPx);
  const writer = await MapZarrWriter.create({ path, sizes, type, kind, name: 'map', description: 'nw-cw-msb' });
  await buildPyramid({
    sizes,
    type,
    kind,
    stripRows,
    read: async (y, rows, strip) => copyStrip(samples, size, type, y, rows, strip),
    write: (level, y, rows, strip) => writer.writeRows(level, y, rows, strip),
  });
  await writer.finish();
  return sizes;
}
