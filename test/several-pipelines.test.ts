import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ServingCluster } from './cluster.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { hashFiles, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// Several pipelines over one decode give the same as a separate job for each, on every device.

const folder = scratchFolder();
const frames = join(folder, 'frames');
const large = join(folder, 'large.pgm');
const recording = fileURLToPath(new URL('../samples/videos/cam1.mp4', import.meta.url));
const clusters: Record<string, ServingCluster> = {};

const chains: Record<string, readonly string[]> = {
  codes: ['lbp'],
  derivative: ['ldp:order=3'],
  edges: ['conv:kernel=gaussian-5,as=u8', 'conv:kernel=sobel-x,as=i16'],
};
const pipelines = Object.entries(chains).flatMap(([name, ops]) => ['--pipeline', `${name}=${ops.join('+')}`]);

before(async () => {
  mkdirSync(frames);
  for (let i = 0; i < 5; i++) await writePgm(join(frames, `${i}.pgm`), drawPicture(40 + i, 30, i));
  writeFileSync(join(frames, 'bad.png'), 'no picture');
  await writePgm(large, drawPicture(300, 200));
  for (const device of ['cpu', 'software'] as const) clusters[device] = await sharedCluster(device);
});
after(() => Promise.all(Object.values(clusters).map((cluster) => cluster.stop())));

/** Runs a job over everything in tiles, and gives its output folder. */
async function run(on: string, name: string, what: readonly string[]): Promise<string> {
  const out = join(folder, name);
  const sources = [large, frames, recording];
  const more = ['--tile', '97', '--to', '00:00:00.4', '--batch', '4', '--grid', '2x3', '--map', 'tiff'];
  const ended = await clusters[on]!.halogrid(['run', ...sources, ...what, ...more, '--out', out]);
  assert.equal(ended.code, 3, ended.stderr);
  return out;
}

/** SHA-256 of each file of an output except its job.json. */
function resultsIn(out: string): Record<string, string> {
  const { 'job.json': _, ...files } = hashFiles(out);
  return files;
}

test('images in tiles, frames and a recording, with a grid and maps', async () => {
  const [cpu, software] = await Promise.all(['cpu', 'software'].map((on) => run(on, `all-${on}`, pipelines)));
  const { digest, pipelines: listed } = readJson(cpu!, 'job.json');
  assert.equal(readJson(software!, 'job.json').digest, digest);
  const lines: string[] = [];
  for (const [i, [name, ops]] of Object.entries(chains).entries()) {
    const part = resultsIn(join(cpu!, 'pipelines', name));
    assert.deepEqual(part, resultsIn(join(software!, 'pipelines', name)));
    const chain = ops.flatMap((op) => ['--op', op]);
    const own = await run('cpu', name, chain);
    assert.deepEqual(part, resultsIn(own));
    assert.equal(listed[i].digest, readJson(own, 'job.json').digest);
    lines.push(`${name} ${listed[i].digest}\n`);
  }
  assert.equal(digest, hash('sha256', `halogrid digests 1\n${lines.join('')}`));
});
