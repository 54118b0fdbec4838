import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseOperation } from '@halogrid/kernels';
import { readZarr } from '@halogrid/results/testing-maps';
import sharp from 'sharp';
import type { ServingCluster } from './cluster.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { lacksPython, runPython } from './python.ts';
import { hashFiles, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// Maps with their coarser levels are the same files for any cut of the work.

const folder = scratchFolder();
const source = join(folder, 'picture.pgm');
let cluster: ServingCluster;

before(async () => {
  await writePgm(source, drawPicture(1300, 700));
  cluster = await sharedCluster();
});
after(() => cluster.stop());

// Samples of 8 bits, of 16 bits, and floats.
const ops = ['lbp', 'ldp:order=2', 'conv:kernel=sobel'];
const formats = ['tiff', 'tiff:deflate', 'zarr', 'zarr:zstd'] as const;
const outOf = (map: string, op: string, tilePx: number): string =>
  join(folder, `${map}-${op}-${tilePx}`.replaceAll(/[^\w-]/g, '-'));

for (const map of formats) {
  for (const op of ops) {
    test(`${map} of ${op}: tiles of any size on 2 nodes give the same bytes`, async () => {
      const operations = [parseOperation(op)];
      const outcomes = [];
      for (const tilePx of [97, 512, 4096]) {
        const out = outOf(map, op, tilePx);
        await cluster.jobs.run({ sources: [source], out, operations, map, tilePx });
        outcomes.push(hashFiles(out, 'maps'));
      }
      assert.ok(Object.keys(outcomes[0]!).length > 0);
      for (const outcome of outcomes) assert.deepEqual(outcome, outcomes[0]);
    });
  }
}

test('a map goes in again: codes of its Zarr are the codes of its TIFF', async () => {
  const outcomes = [];
  for (const [map, extension, tilePx] of [
    ['tiff', 'tif', 4096],
    ['zarr', 'zarr', 97],
    ['zarr', 'zarr', 4096],
  ] as const) {
    const sources = [join(folder, `${map}-lbp-512`, 'maps', `picture.${extension}`)];
    const out = join(folder, `again-${extension}-${tilePx}`);
    await cluster.jobs.run({ sources, out, operations: [parseOperation('lbp')], map: 'tiff', tilePx });
    outcomes.push({ maps: hashFiles(out, 'maps'), digest: readJson(out, 'job.json').digest });
  }
  for (const outcome of outcomes) assert.deepEqual(outcome, outcomes[0]);
});

const skip = lacksPython('osgeo', 'tifffile', 'numpy');

test('GDAL and tifffile read compressed maps as uncompressed ones, and they are smaller', { skip }, async () => {
  const script = `
import sys
import numpy as np
import tifffile
from osgeo import gdal
gdal.UseExceptions()
def levels(path):
    opened = gdal.Open(path)
    band = opened.GetRasterBand(1)
    return [each.ReadAsArray() for each in [band, *(band.GetOverview(i) for i in range(band.GetOverviewCount()))]]
for plain, deflated in zip(sys.argv[1::2], sys.argv[2::2]):
    np.testing.assert_array_equal(gdal.Open(deflated).ReadAsArray(), gdal.Open(plain).ReadAsArray())
    np.testing.assert_array_equal(tifffile.imread(deflated), tifffile.imread(plain))
    for one, other in zip(levels(deflated), levels(plain), strict=True): np.testing.assert_array_equal(one, other)
`;
  const pairs = ops.map((op) =>
    ['tiff', 'tiff:deflate'].map((map) => join(outOf(map, op, 512), 'maps', 'picture.tif')),
  );
  const { code, stderr } = await runPython(['-c', script, ...pairs.flat()]);
  assert.equal(code, 0, stderr);
  for (const [plain, deflated] of pairs) assert.ok(statSync(deflated!).size < statSync(plain!).size);
});

test('zarrita reads compressed maps as uncompressed ones', async () => {
  for (const op of ops) {
    const read = async (map: string) => {
      const { arrays } = await readZarr(join(outOf(map, op, 512), 'maps', 'picture.zarr'), 3);
      return arrays.map(({ samples }) => samples);
    };
    assert.deepEqual(await read('zarr:zstd'), await read('zarr'));
  }
});

test('zarr: shards that two nodes write are the same as shards that the coordinator makes of chunks', async () => {
  const tall = join(folder, 'tall.pgm');
  await writePgm(tall, drawPicture(600, 9000));
  const outcomes = [];
  for (const tilePx of [4096, 1000, 8192]) {
    const out = join(folder, `tall-${tilePx}`);
    await cluster.jobs.run({ sources: [tall], out, operations: [parseOperation('lbp')], map: 'zarr', tilePx });
    outcomes.push(hashFiles(out, 'maps'));
  }
  const shards = Object.keys(outcomes[0]!).filter((path) => /[/]0[/]c[/]/.test(path));
  assert.equal(shards.length, 3);
  for (const outcome of outcomes) assert.deepEqual(outcome, outcomes[0]);
});

test('run writes OME-Zarr, and pictures for Deep Zoom, and says where', async () => {
  for (const map of ['zarr', 'dzi']) {
    const out = join(folder, `run-${map}`);
    const { code, stderr } = await cluster.halogrid(['run', source, '--map', map, '--out', out]);
    assert.equal(code, 0, stderr);
    const { sources, specification } = readJson(out, 'job.json');
    assert.equal(specification.mapFormat, map);
    assert.equal(sources[0].name, 'picture');
    assert.ok(existsSync(join(out, 'preview', 'picture.png')));
    assert.ok(!existsSync(join(out, '.halogrid')));
  }
  const zarr = join(folder, 'run-zarr', 'maps', 'picture.zarr');
  const [multiscale] = readJson(zarr, 'zarr.json').attributes.ome.multiscales;
  assert.deepEqual(
    multiscale.datasets.map(({ path }: { path: string }) => readJson(zarr, path, 'zarr.json').shape),
    [
      [700, 1300],
      [350, 650],
      [175, 325],
    ],
  );
  const maps = join(folder, 'run-dzi', 'maps');
  assert.ok(existsSync(join(maps, 'picture.dzi')));
  const { width, height } = await sharp(join(maps, 'picture_files', '11', '5_2.png')).metadata();
  assert.deepEqual([width, height], [1300 - 5 * 256, 700 - 2 * 256]);
});
