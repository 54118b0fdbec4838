import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { isThorough } from '@halogrid/testing';
import { Halogrid } from './halogrid.ts';
import { lookWhile } from './look-while.ts';
import { drawPicture } from './picture-files.ts';
import { hasProc, peakResidentBytes } from './process-list.ts';
import { readHistogram, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { writeTiledTiff } from './tiled-tiff.ts';

// An image that is far larger than the memory for it. HALOGRID_THOROUGH=1 takes a larger one; HALOGRID_TEST_FULL=1
// takes the size for which the limit is documented, which takes more than a minute on two cores.

const isFull = process.env.HALOGRID_TEST_FULL === '1';
const sidePx = isFull ? 20_000 : isThorough ? 7_000 : 5_000;
const limitBytes = 1.5e9;
const skip = hasProc ? false : 'memory is told by /proc';

test(`${sidePx} x ${sidePx} pixels on the software device take less than 1.5 GB in any process`, {
  skip,
}, async (t) => {
  const folder = scratchFolder();
  const source = join(folder, 'large.tif');
  const out = join(folder, 'out');
  const tiles = Array.from({ length: 97 }, (_, i) => drawPicture(512, 512, i));
  const drawTile = (x: number, y: number) => tiles[((x + 7 * y) / 512) % tiles.length]!;
  await writeTiledTiff(source, { width: sidePx, height: sidePx }, 512, drawTile);

  const run = new Halogrid(['run', source, '--out', out, '--map', 'tiff', '--device', 'software']);
  const peaks = new Map<string, number>();
  const { code, stderr } = await lookWhile(run.ended, () => {
    for (const { pid, role } of run.processes()) {
      peaks.set(role, Math.max(peaks.get(role) ?? 0, peakResidentBytes(pid) ?? 0));
    }
  });
  assert.equal(code, 0, stderr);
  for (const [role, bytes] of peaks) {
    t.diagnostic(`${role}: ${Math.round(bytes / 1e6)} MB at most`);
    assert.ok(bytes < limitBytes, `the ${role} had ${bytes} bytes resident`);
  }
  // The launcher becomes the program, or stays beside it if its Node cannot replace its process.
  peaks.delete('launcher');
  assert.deepEqual([...peaks.keys()].sort(), ['node', 'run']);
  const { counts, wallSeconds } = readJson(out, 'job.json');
  t.diagnostic(`${wallSeconds} s`);
  assert.equal(counts.pixels, sidePx ** 2);
  assert.equal(readHistogram(out).counted, (sidePx - 2) ** 2);
});
