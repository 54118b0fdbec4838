import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { matched } from '@halogrid/testing';
import type { ServingCluster } from './cluster.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { readErrors, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// A job says how many inputs it may lose, and users see why inputs were lost, reason by reason; for reasons after a
// restart of the coordinator see cluster.test.ts.

const folder = scratchFolder();
const source = join(folder, 'source');
const bad = join(folder, 'bad');
const uri = (name: string): string => pathToFileURL(join(source, name)).href;
let cluster: ServingCluster;
const run = (out: string, ...more: string[]) => cluster.halogrid(['run', source, '--out', join(folder, out), ...more]);

/**
 * Six of the 8 inputs are broken: 3 are empty, 2 are links to different missing files, and one has an unsupported
 * format.
 */
before(async () => {
  for (const path of [source, bad]) mkdirSync(path);
  for (const name of ['empty-1.png', 'empty-2.png', 'empty-3.png']) writeFileSync(join(source, name), '');
  for (const name of ['link-7.png', 'link-8.png']) symlinkSync(`nothing of ${name}`, join(source, name));
  writeFileSync(join(source, 'picture.heic'), '\0\0\0\x1cftypheic');
  for (const name of ['good-1.pgm', 'good-2.pgm']) await writePgm(join(source, name), drawPicture(20, 30));
  for (const name of ['a.png', 'b.png']) writeFileSync(join(bad, name), '');
  cluster = await sharedCluster();
});
after(() => cluster?.stop());

for (const tile of [[], ['--tile', '8']]) {
  const how = tile.join(' ') || 'as frames';
  test(`a job fails with one lost input too many, ${how}`, async () => {
    const out = join(folder, `one${tile.length}`);
    const { code, stdout, stderr } = await run(`one${tile.length}`, '--max-quarantined', '1', '--json', ...tile);
    assert.equal(code, 1, stderr);
    const sentence =
      /More inputs are quarantined \((\d)\) than the job allows \(1\): (\d) of them: .+(?:, e\.g\.|:) file:.*/;
    const [said, quarantined, most] = matched(stderr, sentence);
    assert.ok(Number(quarantined) > 1 && Number(most) <= Number(quarantined), said);
    assert.deepEqual(readdirSync(out), ['job.json']);
    const { state, error, quarantine } = readJson(out, 'job.json');
    assert.deepEqual([state, said.includes(error)], ['failed', true]);
    const summary = JSON.parse(stdout);
    assert.deepEqual([summary.state, summary.quarantine], ['failed', quarantine]);
  });

  test(`a percentage of the inputs is judged once all are known, ${how}`, async () => {
    const { code, stderr } = await run(`half${tile.length}`, '--max-quarantined', '50%', ...tile);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /More inputs are quarantined \([56]\) than the job allows \(50% of 8\): [23] of them: /);
  });

  test(`a job that loses as many as it may is complete, with the reasons, ${how}`, async () => {
    const out = join(folder, `all${tile.length}`);
    const { code, stdout, stderr } = await run(`all${tile.length}`, '--max-quarantined', '100%', ...tile);
    assert.equal(code, 3, stderr);
    const errors = readErrors(out);
    const errorOf = (name: string): string => errors.find((line) => line.uri === uri(name))!.error;
    const { quarantine } = readJson(out, 'job.json');
    assert.deepEqual(quarantine, [
      { stage: 'decode', error: errorOf('empty-1.png'), inputs: 3, example: uri('empty-1.png') },
      { stage: 'read', error: errorOf('link-7.png'), inputs: 2, example: uri('link-7.png') },
      { stage: 'decode', error: errorOf('picture.heic'), inputs: 1, example: uri('picture.heic') },
    ]);
    assert.match(
      stdout,
      /^ {2}quarantined +6: .*errors\.jsonl says why\n +3 × decode: .*, e\.g\. .*\/empty-1\.png\n +2 × read: /m,
    );
  });
}

test('the limit changes no result: the same command without it keeps the results', async () => {
  const args = ['--json'];
  assert.equal((await run('again', '--max-quarantined', '6', ...args)).code, 3);
  const { code, stdout, stderr } = await run('again', ...args);
  assert.equal(code, 3, stderr);
  assert.equal(JSON.parse(stdout).incremental.kept, 2);
  // Kept inputs count too: 6 of 8 are 75 %.
  assert.equal((await run('again', '--max-quarantined', '75%', '--wait-for-node', ...args)).code, 3);
  const failed = await run('again', '--max-quarantined', '74%', ...args);
  assert.equal(failed.code, 1);
  assert.match(failed.stderr, /quarantined \(6\) than the job allows \(74% of 8\)/);
  assert.ok(existsSync(join(folder, 'again', 'histogram.json')), 'the earlier output stays');
});

test('a job that merged nothing says so', async () => {
  const { code, stdout } = await cluster.halogrid(['run', bad, '--out', join(folder, 'none')]);
  assert.equal(code, 3);
  assert.match(stdout, /^Job \S+ is complete, but the results are empty: all 2 inputs are quarantined/);
});
