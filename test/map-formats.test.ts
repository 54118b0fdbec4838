import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseOperation } from '@halogrid/kernels';
import sharp from 'sharp';
import type { ServingCluster } from './cluster.ts';
import { drawPicture, writePgm } from './picture-files.ts';
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

for (const map of ['tiff', 'zarr'] as const) {
  // Samples of 8 bits, of 16 bits, and floats.
  for (const op of ['lbp', 'ldp:order=2', 'conv:kernel=sobel']) {
    test(`${map} of ${op}: tiles of any size on 2 nodes give the same bytes`, async () => {
      const operations = [parseOperation(op)];
      const outcomes = [];
      for (const tilePx of [97, 512, 4096]) {
        const out = join(folder, `${map}-${op.replaceAll(/\W/g, '-')}-${tilePx}`);
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
