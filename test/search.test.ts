import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { scratchFolder } from './scratch-folder.ts';

// From pictures to an index, and from a picture to those most like it.

const folder = scratchFolder();
const [frames, out, index] = ['frames', 'out', 'index'].map((name) => join(folder, name)) as [string, string, string];
/** Sizes differ, so that pixels counted do. */
const sizes = [40, 48, 56, 64, 72];

before(async () => {
  mkdirSync(frames);
  for (const [i, size] of sizes.entries()) await writePgm(join(frames, `${i}.pgm`), drawPicture(size, 40));
  for (const args of [
    ['run', frames, '--out', out, '--device', 'cpu'],
    ['index', out, '--to', index],
  ]) {
    const { code, stderr } = await halogrid(args);
    assert.equal(code, 0, stderr);
  }
});

test('a picture finds itself first, with the JSON that is promised, and a sheet to look at', async () => {
  const query = join(frames, '3.pgm');
  const found = join(folder, 'found');
  const { code, stdout, stderr } = await halogrid([
    'search',
    query,
    'row:1',
    '--index',
    index,
    '--json',
    '--top',
    '9',
    '--out',
    found,
  ]);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^The index has 5 frames, so no more than that can be found\.$/m);
  const answers = JSON.parse(stdout);
  assert.deepEqual(
    answers.map((answer: { query: string }) => answer.query),
    [query, 'row:1'],
  );
  for (const [i, file] of [
    [0, '3.pgm'],
    [1, '1.pgm'],
  ] as const) {
    const { results } = answers[i];
    assert.equal(results.length, sizes.length);
    const { rank, uri, frame, score } = results[0];
    assert.deepEqual(
      { rank, uri, frame, score },
      { rank: 1, uri: pathToFileURL(join(frames, file)).href, frame: 0, score: 1 },
    );
    for (let r = 1; r < results.length; r++)
      assert.ok(results[r].score <= results[r - 1].score && results[r].score > 0);
  }
  assert.equal(readFileSync(join(found, 'results.json'), 'utf8'), stdout);
  assert.equal(readFileSync(join(found, 'contact-sheet.png')).readUInt32BE(0), 0x89504e47);
});

test('what cannot be found is said in one sentence', async () => {
  const wrong: [string[], number, RegExp][] = [
    [['row:5'], 1, /^halogrid: There is no row:5: the rows of the index are 0 to 4\n$/],
    [[`${frames}/0.pgm#1`], 1, /^halogrid: Frame 1 of 'file:.*0\.pgm' is not in the index\n$/],
    [['row:0', '--since', '2026-01-01T00:00Z'], 2, /^halogrid: No frame of the index knows when it was captured/],
    [['row:0', '--camera', 'north'], 2, /^halogrid: No frame of the index knows its camera/],
  ];
  for (const [args, code, sentence] of wrong) {
    const ended = await halogrid(['search', ...args, '--index', index]);
    assert.deepEqual([ended.code, ended.stdout], [code, '']);
    assert.match(ended.stderr, sentence);
  }
  assert.equal(existsSync(join(index, 'writer.json')), false);
});
