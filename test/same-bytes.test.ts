import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isThorough } from '@halogrid/testing';
import { Cluster, type ServingCluster } from './cluster.ts';
import { command } from './command.ts';
import { halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { readMap } from './read-map.ts';
import { hashFiles, readHistogram, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { runUndisturbed, sharedCluster, sharedNodes } from './shared-cluster.ts';
import { writeTiledTiff } from './tiled-tiff.ts';

// The promise of the project: the same output bytes, for any cut of the work and on any device.

const folder = scratchFolder();
const source = join(folder, 'source');
const fixtures = fileURLToPath(new URL('../libs/imaging/fixtures', import.meta.url));
const border = 'mirror';
const tilesPx = [isThorough ? 32 : 64, 100, 512, 4096];
const batchesFrames = [1, 7, 32];

/** Sizes of tiles to test in the i-th of several ways: all in thorough runs, otherwise every second one. */
const tilesWith = (i: number): number[] => tilesPx.filter((_, j) => isThorough || j % 2 === i % 2);

/** Batches to test with the i-th size of tiles: all in thorough runs, otherwise one. */
const batchesWith = (i: number): number[] => (isThorough ? batchesFrames : [batchesFrames[i % batchesFrames.length]!]);

/** What every job on these sources must give. */
interface Outcome {
  digest: string;
  maps: Record<string, string>;
  previews: Record<string, string>;
  histogram: object;
}

/** The outcome on one node, in the largest tiles and batches. */
let reference: Outcome;

before(async () => {
  await drawSource();
  const out = join(folder, 'reference');
  const cut = ['--tile', '4096', '--batch', '32', '--nodes', '1', '--device', 'cpu'];
  const { code, stderr } = await command(['run', source, '--border', border, '--map', 'tiff', ...cut, '--out', out]);
  assert.equal(code, 0, stderr);
  reference = readOutcome(out);
  assert.equal(Object.keys(reference.maps).length, 46);
});

for (const device of ['cpu', 'software'] as const) {
  describe(`on ${device}`, () => {
    let cluster: ServingCluster;
    /** A cluster whose nodes become more. */
    let growing: Cluster | undefined;
    before(async () => {
      if (device === 'cpu' && isThorough) growing = await Cluster.start();
      cluster = growing ?? (await sharedCluster(device));
    });
    after(() => cluster?.stop());

    const numbersOfNodes = device === 'cpu' && isThorough ? [1, 2, 5] : [sharedNodes[device]];
    for (const [j, nodes] of numbersOfNodes.entries()) {
      const way = device === 'cpu' ? j : 1;
      // One size on software in runs that are not thorough: same-bytes-kernels.test.ts has others.
      const sizes = tilesWith(way).slice(0, isThorough || device === 'cpu' ? undefined : 1);
      for (const [i, tilePx] of sizes.entries()) {
        const batches = batchesWith(way + i);
        test(`tiles of ${tilePx} px in batches of ${batches}, ${nodes} nodes`, async () => {
          while (growing && growing.nodes.length < nodes) await growing.startNode(`n${growing.nodes.length + 1}`);
          for (const batchFrames of batches) {
            const out = join(folder, `${device}-${nodes}-${tilePx}-${batchFrames}`);
            await cluster.jobs.run({ sources: [source], out, border, map: 'tiff', tilePx, batchFrames });
            assert.deepEqual(readOutcome(out), reference);
          }
        });
      }
    }

    test('without maps, where only the parts for previews are computed', async () => {
      for (const tilePx of isThorough ? tilesPx : [100]) {
        const out = join(folder, `${device}-previews-${tilePx}`);
        await cluster.jobs.run({ sources: [source], out, border, map: 'none', tilePx, batchFrames: 7 });
        assert.deepEqual(readOutcome(out), { ...reference, maps: {} });
      }
    });
  });
}

test('run, with automatic tiles, on 2 nodes with so many decoding threads that images are opened on other threads', async () => {
  const out = join(folder, 'run');
  const args = ['run', source, '--border', border, '--map', 'tiff', '--out', out, '--nodes', '2', '--device', 'cpu'];
  const { code, stderr } = await halogrid(args, { env: { UV_THREADPOOL_SIZE: '8' } });
  assert.equal(code, 0, stderr);
  assert.deepEqual(readOutcome(out), reference);
  // A node that is there sooner may have done all of this small job.
  for (const { name } of readJson(out, 'job.json').nodes) assert.match(name, /^node-[12]$/);
});

test('PNG maps hold the same codes as TIFF maps', async () => {
  const out = join(folder, 'png');
  await runUndisturbed([source, '--border', border, '--map', 'png', '--out', out, '--tile', '100']);
  const { maps, ...others } = readOutcome(out);
  const { maps: referenceMaps, ...referenceOthers } = reference;
  assert.deepEqual(others, referenceOthers);
  assert.deepEqual(
    Object.keys(maps).sort(),
    Object.keys(referenceMaps)
      .map((name) => name.replace(/tif$/, 'png'))
      .sort(),
  );
  for (const name of Object.keys(maps)) {
    const tiff = join(folder, 'reference', 'maps', name.replace(/png$/, 'tif'));
    assert.deepEqual(await readMap(join(out, 'maps', name)), await readMap(tiff), name);
  }
});

/**
 * Makes sources of every format and way of reading, with sizes that no tile divides, and more frames than a batch of
 * 32.
 */
async function drawSource(): Promise<void> {
  mkdirSync(join(source, 'frames'), { recursive: true });
  await writePgm(join(source, 'wide.pgm'), drawPicture(530, 130));
  // Its preview shows every third pixel.
  await writePgm(join(source, 'long.pgm'), drawPicture(2100, 40));
  const tiles = [drawPicture(64, 64, 2), drawPicture(64, 64, 3), drawPicture(64, 64, 4)];
  const drawTile = (x: number, y: number) => tiles[(x / 64 + y / 64) % tiles.length]!;
  await writeTiledTiff(join(source, 'tall.tif'), { width: 130, height: 530 }, 64, drawTile);
  for (const name of ['420.jpg', 'rgb.png', 'lossless.webp']) copyFileSync(join(fixtures, name), join(source, name));
  for (let i = 0; i < 40; i++) {
    await writePgm(join(source, 'frames', `${i}.pgm`), drawPicture(31 - (i % 5), 20 + (i % 3), 10 + i));
  }
}

function readOutcome(out: string): Outcome {
  return {
    digest: readJson(out, 'job.json').digest,
    maps: existsSync(join(out, 'maps')) ? hashFiles(out, 'maps') : {},
    previews: hashFiles(out, 'preview'),
    histogram: readHistogram(out),
  };
}
