import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { readErrors, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';

// Which inputs a job has: each once, in an order that people expect, whatever leads to it.

const folder = scratchFolder();
const frames = join(folder, 'frames');
const onCpu = ['--device', 'cpu'];

before(async () => {
  mkdirSync(join(frames, 'b'), { recursive: true });
  for (const name of ['frame10.pgm', 'frame9.pgm', 'b/1.pgm']) await writePgm(join(frames, name), drawPicture(20, 20));
});

async function run(out: string, ...sources: string[]) {
  const ended = await halogrid(['run', ...sources, ...onCpu, '--out', join(folder, out)]);
  const job = readJson(folder, out, 'job.json');
  const prefix = pathToFileURL(`${frames}/`).href;
  return { ...ended, job, uris: job.sources.map(({ uri }: { uri: string }) => uri.replace(prefix, '')) };
}

test('an input that several sources lead to is processed once, where it comes first', async () => {
  const { code, job, uris } = await run('once', join(frames, 'frame9.pgm'), frames, `${frames}/*/*.pgm`, frames);
  assert.equal(code, 0);
  assert.deepEqual(uris, ['frame9.pgm', 'b/1.pgm', 'frame10.pgm']);
  assert.equal(job.counts.pixels, 3 * 400);
});

test('a symbolic link in a circle is quarantined with one sentence, and the rest is processed', async () => {
  const looped = join(folder, 'looped');
  mkdirSync(looped);
  await writePgm(join(looped, '1.pgm'), drawPicture(20, 20));
  symlinkSync('.', join(looped, 'again'));
  const { code, job } = await run('circle', looped);
  assert.equal(code, 3);
  assert.deepEqual([job.counts.frames, job.counts.quarantined], [1, 1]);
  const [error] = readErrors(join(folder, 'circle'));
  assert.equal(error!.stage, 'read');
  assert.equal(error!.error, 'The symbolic link leads in a circle: it leads to a folder that it lies in');
});

test('a small file of a folder that holds a huge image is cut into tiles', async () => {
  const flat = join(folder, 'flat');
  mkdirSync(flat);
  const white = { width: 6000, height: 5000, channels: 3 as const, background: '#fff' };
  await sharp({ create: white }).png({ compressionLevel: 9 }).toFile(join(flat, 'white.png'));
  const { code, job } = await run('huge', flat);
  assert.equal(code, 0);
  assert.deepEqual([job.counts.shards, job.counts.pixels], [4, 30_000_000]);
});
