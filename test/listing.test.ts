import assert from 'node:assert/strict';
import { mkdirSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import type { ServingCluster } from './cluster.ts';
import { command } from './command.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { readErrors, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// The inputs of a job: each once, in the expected order, for any kind of sources.

const folder = scratchFolder();
const frames = join(folder, 'frames');
let cluster: ServingCluster;

before(async () => {
  mkdirSync(join(frames, 'b'), { recursive: true });
  for (const name of ['frame10.pgm', 'frame9.pgm', 'b/1.pgm']) await writePgm(join(frames, name), drawPicture(20, 20));
  cluster = await sharedCluster();
});
after(() => cluster?.stop());

async function run(out: string, ...sources: string[]) {
  const ended = await cluster.halogrid(['run', ...sources, '--out', join(folder, out)]);
  const job = readJson(folder, out, 'job.json');
  const prefix = pathToFileURL(`${frames}/`).href;
  return { ...ended, job, uris: job.sources.map(({ uri }: { uri: string }) => uri.replace(prefix, '')) };
}

test('an input that several sources lead to is processed once, at its first place', async () => {
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

test('three runs over a folder have the same inputs, and the plan says what it leaves out', async () => {
  const place = join(folder, 'again');
  mkdirSync(place);
  for (const name of ['1.pgm', '2.pgm']) await writePgm(join(place, name), drawPicture(20, 20));
  const outs: string[] = [];
  for (let i = 0; i < 3; i++) {
    const { code, stdout, stderr } = await cluster.halogrid(['run', '.', '--json'], { cwd: place });
    assert.equal(code, 0, stderr);
    const { id, out } = JSON.parse(stdout);
    outs.push(id);
    const { sources } = readJson(out, 'job.json');
    assert.deepEqual(
      sources.map(({ name }: { name: string }) => name),
      ['1', '2'],
    );
  }
  const planned = await command(['plan', '**/*', '--json', '--out', join(folder, 'elsewhere')], place);
  const { sources, notes } = JSON.parse(planned.stdout);
  assert.equal(sources, 2);
  assert.equal(notes.length, 3);
  for (const id of outs) {
    const note = new RegExp(`^Left out '/.*${id}': .* job ${id}$`);
    assert.equal(notes.filter((text: string) => note.test(text)).length, 1, id);
  }
  assert.deepEqual(planned.stderr.match(/^Left out .*$/gm), notes);
});

test('a file whose name is not UTF-8 is set aside, and errors.jsonl says which it is', async () => {
  const odd = join(folder, 'odd');
  mkdirSync(odd);
  await writePgm(join(odd, 'a.pgm'), drawPicture(20, 20));
  renameSync(
    join(odd, 'a.pgm'),
    Buffer.concat([Buffer.from(join(odd, 'a')), Buffer.from([0xff]), Buffer.from('.pgm')]),
  );
  await writePgm(join(odd, 'b.pgm'), drawPicture(20, 20));
  const { code, job } = await run('raw-name', odd);
  assert.equal(code, 3);
  assert.deepEqual([job.counts.frames, job.counts.quarantined], [1, 1]);
  const [error] = readErrors(join(folder, 'raw-name'));
  assert.equal(error!.error, 'Its name is not UTF-8 (bytes 61 ff 2e 70 67 6d); rename it');
  assert.equal(job.sources[0].uri, `${pathToFileURL(odd).href}/a%FF.pgm`);
});

test('a filter holds for all runs into a folder, and says what it leaves out', async () => {
  const place = join(folder, 'filtered');
  mkdirSync(join(place, 'old'), { recursive: true });
  for (const name of ['1.pgm', 'a_thumb.pgm', 'old/2.pgm']) await writePgm(join(place, name), drawPicture(20, 20));
  const out = join(folder, 'filtered-out');
  const run = (...words: string[]) => cluster.halogrid(['run', place, '--out', out, '--json', ...words]);
  const exclude = ['--exclude', 'old', '--exclude', '*_thumb.*'];
  assert.equal((await run(...exclude)).code, 0);
  await writePgm(join(place, '3.pgm'), drawPicture(20, 20));
  const { code, stdout } = await run(...exclude);
  assert.equal(code, 0);
  assert.deepEqual(JSON.parse(stdout).notes, [
    '1 file left out by exclude: 1 .pgm',
    '1 folder left out by exclude: 1 old',
  ]);
  const { specification, incremental, sources } = readJson(out, 'job.json');
  assert.deepEqual(specification.filter, { include: [], exclude: ['old', '*_thumb.*'] });
  assert.deepEqual([incremental.kept, incremental.new], [1, 1]);
  assert.deepEqual(
    sources.map(({ name }: { name: string }) => name),
    ['1', '3'],
  );
  const other = await run('--exclude', 'old');
  assert.equal(other.code, 2);
  assert.match(other.stderr, /--exclude is old and was old \*_thumb\.\*\./);
  const none = await run('--include', '*.png');
  assert.deepEqual([none.code, none.stderr], [2, 'halogrid: --include leaves out every input\n']);
});
