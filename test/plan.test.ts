import assert from 'node:assert/strict';
import { existsSync, mkdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { ServingCluster } from './cluster.ts';
import { command } from './command.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// A run does what its plan says, and a plan that cannot fit is refused before anything is computed.

const folder = scratchFolder();
const frames = join(folder, 'frames');
const onCpu = ['--device', 'cpu'];
let cluster: ServingCluster;
// The test must not see rates of other runs on this machine, but may use compiled code.
process.env.NODE_COMPILE_CACHE = join(process.env.XDG_CACHE_HOME!, 'halogrid', 'compiled');
process.env.XDG_CACHE_HOME = join(folder, 'cache');

before(async () => {
  cluster = await sharedCluster();
  mkdirSync(join(frames, 'more'), { recursive: true });
  for (let i = 0; i < 12; i++) await writePgm(join(frames, `${i}.pgm`), drawPicture(50 + i, 40, i));
  await writePgm(join(frames, 'more', 'wide.pgm'), drawPicture(700, 90));
  writeFileSync(join(frames, 'empty.tif'), '');
  writeFileSync(join(frames, 'text.tif'), 'These are words.');
});

after(() => cluster.stop());

async function plan(...args: string[]) {
  const { code, stdout, stderr } = await command(['plan', ...args, '--json']);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

describe('a plan says what the run does', () => {
  const jobs: [name: string, options: string[]][] = [
    ['whole frames', []],
    ['small tiles and a map', ['--tile', '64', '--map', 'tiff']],
    ['small batches, a grid', ['--batch', '3', '--grid', '2x2', '--op', 'ldp']],
  ];
  for (const [name, options] of jobs) {
    test(name, async () => {
      const out = join(folder, name);
      const planned = await plan(frames, ...options);
      const run = await cluster.halogrid(['run', frames, ...options, '--out', out]);
      assert.equal(run.code, 3, run.stderr);
      const { counts } = readJson(out, 'job.json');
      const { sources, pixels, shards } = planned;
      assert.deepEqual(
        { sources, pixels, shards },
        { sources: counts.sources, pixels: counts.pixels, shards: counts.shards },
      );
      // Only nodes can find the empty file, and they find no other fault.
      assert.deepEqual([planned.quarantined + planned.unknown, counts.quarantined], [2, 2]);
    });
  }
});

test('a run prints its plan first, and the map files have the planned size', async () => {
  const out = join(folder, 'sizes');
  const image = join(folder, 'image.pgm');
  await writePgm(image, drawPicture(1300, 800));
  const { shards, output, scratchBytes } = await plan(image, '--map', 'tiff');
  const run = await command(['run', image, '--map', 'tiff', ...onCpu, '--out', out]);
  assert.equal(run.code, 0, run.stderr);
  assert.match(run.stderr, new RegExp(`^Plan: 1 source, .* ${shards} shards?, at most .* of results`, 'm'));
  assert.equal(scratchBytes, 1300 * 800);
  const { size } = statSync(join(out, 'maps', 'image.tif'));
  assert.ok(size >= output.mapsBytes && size < output.mapsBytes + 20_000, `${size} bytes, planned ${output.mapsBytes}`);
  // Rates of the run are stored.
  const { estimate } = await plan(image, '--map', 'tiff', ...onCpu);
  assert.ok(estimate.likeRuns >= 1 && estimate.basis.startsWith('from '), estimate.basis);
});

test('a plan is a table for people; it writes and starts nothing', async () => {
  const out = join(folder, 'never');
  const { code, stdout } = await command(['plan', frames, '--out', out]);
  assert.equal(code, 0);
  assert.match(stdout, /^sources {13}15, 2 cannot be read$/m);
  assert.match(stdout, /^ {20}1 × decode: Not an image: .*"These are words\.": \/.*text\.tif$/m);
  assert.match(stdout, /^time {16}about .* \(.* to .*\), after .* to start\n {20}(a guess|from)/m);
  assert.ok(!existsSync(out));
});

test('a plan with no usable input says why, and exits with 3', async () => {
  const { code, stdout } = await command(['plan', join(frames, 'text.tif'), '--json']);
  assert.equal(code, 3);
  const [{ stage, error, inputs, example }] = JSON.parse(stdout).quarantine;
  assert.deepEqual([stage, inputs, example.split('/').at(-1)], ['decode', 1, 'text.tif']);
  assert.match(error, /^Not an image/);
});

test('tiny tiles are advised against', async () => {
  const { code, stderr } = await command(['plan', join(frames, 'more', 'wide.pgm'), '--tile', '7']);
  assert.equal(code, 0);
  assert.match(stderr, /^Tiles of 7 pixels make 1,300 shards: .*; --tile \d+ gives the same results sooner\.$/m);
});

describe('a plan is refused with one sentence and exit code 2', () => {
  const huge = join(folder, 'huge.pgm');
  before(() => {
    // A header, and a sparse file as long as the pixels would be.
    writeFileSync(huge, 'P5 40000 40000 255\n');
    truncateSync(huge, 19 + 40000 * 40000);
  });
  const conv = ['--op', 'conv:kernel=sobel,channels=rgb', '--map', 'tiff'];
  const refused: [what: string, args: () => string[], sentence: RegExp][] = [
    ['a tile that no device takes', () => [huge, ...conv, '--tile', '32768'], /--tile 8192 fits$/],
    ['a source that is not there', () => [join(folder, 'none.png')], /none\.png' does not exist$/],
    ['a coordinator', () => [frames, '--coordinator', '127.0.0.1:1'], /^halogrid: Expected no --coordinator/],
    ['a wrong option', () => [frames, '--tile', '0'], /--tile/],
  ];
  for (const [what, args, sentence] of refused) {
    test(what, async () => {
      const { code, stdout, stderr } = await command(['plan', ...args()]);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr.trimEnd(), sentence);
      assert.equal(stderr.trimEnd().split('\n').length, 1);
    });
  }

  test('a run is refused like its plan, before it begins', async () => {
    const out = join(folder, 'refused');
    const { code, stderr } = await command(['run', huge, ...conv, '--tile', '32768', ...onCpu, '--out', out]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /--tile 8192 fits$/m);
    assert.ok(!existsSync(out));
  });
});
