import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ServingCluster } from './cluster.ts';
import { lacksPython, runPython } from './python.ts';
import { readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// The only test in which the whole program reads slides by OpenSlide: the plan opens them, though their first bytes are
// a small picture's, and nodes read their tiles.

const lacks = (program: string): boolean => spawnSync(program, ['--version'], { stdio: 'ignore' }).error !== undefined;
const skip =
  lacksPython('numpy', 'tifffile', 'PIL') ||
  ((lacks('openslide-show-properties') || lacks('vips')) && 'openslide-tools or libvips-tools is not installed');
const folder = scratchFolder();
const slides = join(folder, 'slides');

let cluster: ServingCluster | undefined;

before(async () => {
  if (skip) return;
  mkdirSync(slides);
  const program = fileURLToPath(new URL('../libs/imaging/src/slides/testing/make-slides.py', import.meta.url));
  const { code, stderr } = await runPython([program, slides]);
  assert.equal(code, 0, stderr);
  cluster = await sharedCluster('cpu');
});

after(() => cluster?.stop());

const run = async (out: string, ...args: string[]) => {
  const { code, stderr } = await cluster!.halogrid(['run', ...args, '--out', join(folder, out)]);
  assert.equal(code, 0, stderr);
  return readJson(join(folder, out), 'job.json');
};

/** What OpenSlide gave of a level, without its alpha, as an image that is read without it. */
function putAsPpm(name: string, width: number, height: number): string {
  const rgba = readFileSync(join(slides, name));
  const rgb = rgba.filter((_, at) => at % 4 !== 3);
  const path = join(folder, `${name}.ppm`);
  writeFileSync(path, Buffer.concat([Buffer.from(`P6\n${width} ${height}\n255\n`), rgb]));
  return path;
}

test('slides have the results of their pixels for every cut, and say who decoded them', { skip }, async () => {
  const [first, second] = [putAsPpm('aperio.scn-0', 1100, 800), putAsPpm('hamamatsu.vms-0', 960, 640)];
  const expected = (await run('of pixels', first, second)).digest;
  const both = [slides, '--include', '*.scn', '--include', '*.vms'];
  const whole = await run('whole', ...both);
  assert.equal(whole.digest, expected);
  assert.equal((await run('tiles', ...both, '--tile', '300')).digest, expected);
  assert.equal(whole.mended.length, 1);
  assert.equal(whole.mended[0].inputs, 2);
  assert.match(whole.mended[0].mended, /^decoded by OpenSlide \d+\.\d+\.\d+; other versions may give other pixels$/);
  // Another version may be installed by then, or files beside the slide may have changed.
  const again = await run('whole', ...both);
  assert.deepEqual([again.incremental.kept, again.digest], [0, expected]);
});

test('a level of a slide whose files changed after one run is read as it is now', { skip }, async () => {
  const level = ['--level', '0.5um'];
  const slide = join(slides, 'mirax.mrxs');
  const before = await run('level', slide, ...level);
  utimesSync(join(slides, 'mirax', 'Data0000.dat'), 1, 1);
  const now = await run('level', slide, ...level);
  assert.deepEqual([now.digest, now.incremental.kept], [before.digest, 0]);
  assert.equal(before.counts.pixels, 240 * 160);
});
