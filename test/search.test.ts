import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { ServingCluster } from './cluster.ts';
import { command } from './command.ts';
import { halogrid } from './halogrid.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// Makes an index of pictures, finds the most similar ones, and evaluates how well this separates classes.

const folder = scratchFolder();
const [frames, out, index] = ['frames', 'out', 'index'].map((name) => join(folder, name)) as [string, string, string];
/** Sizes differ, so that the numbers of counted pixels do too. */
const sizes = [40, 48, 56, 64, 72];
let cluster: ServingCluster;

before(async () => {
  mkdirSync(frames);
  for (const [i, size] of sizes.entries()) await writePgm(join(frames, `${i}.pgm`), drawPicture(size, 40));
  cluster = await sharedCluster();
  await makeIndex([frames], out, index);
});
after(() => cluster.stop());

async function makeIndex(
  sources: readonly string[],
  results: string,
  to: string,
  options: readonly string[] = [],
): Promise<void> {
  for (const ended of [
    await cluster.halogrid(['run', ...sources, '--out', results, ...options]),
    await command(['index', results, '--to', to]),
  ]) {
    assert.equal(ended.code, 0, ended.stderr);
  }
}

test('a picture finds itself first, with the documented JSON, and a sheet to look at', async () => {
  const query = join(frames, '3.pgm');
  const found = join(folder, 'found');
  const { code, stdout, stderr } = await command([
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

test('frames are found by capture time and camera, from their names', async () => {
  const [archive, results, timed] = ['archive', 'timed', 'timed-index'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  // Between the two frames of the north, clocks were put forward.
  for (const [i, name] of [
    'camnorth/20260329/013000',
    'camnorth/20260329/033000',
    'camsouth/20260329/033000',
  ].entries()) {
    mkdirSync(join(archive, name, '..'), { recursive: true });
    await writePgm(join(archive, `${name}.pgm`), drawPicture(40 + 8 * i, 40));
  }
  const asked = ['--captured-from', 'cam{camera}/%Y%m%d/%H%M%S', '--captured-zone', 'Europe/Berlin'];
  await makeIndex([archive], results, timed, asked);
  assert.deepEqual(JSON.parse(readFileSync(join(results, 'job.json'), 'utf8')).capturedBy, { name: 3 });
  const found = async (...options: string[]): Promise<string[]> => {
    const { code, stdout, stderr } = await command(['search', 'row:0', '--index', timed, '--json', ...options]);
    assert.equal(code, 0, stderr);
    const [{ results: hits }] = JSON.parse(stdout);
    return hits
      .map(({ camera, capturedAt }: { camera: string; capturedAt: string }) => `${camera} ${capturedAt}`)
      .sort();
  };
  assert.deepEqual(await found('--since', '2026-03-29T01:00Z', '--device', 'twin'), [
    'north 2026-03-29T01:30:00.000Z',
    'south 2026-03-29T01:30:00.000Z',
  ]);
  assert.deepEqual(await found('--camera', 'north', '--until', '2026-03-29T01:00Z'), [
    'north 2026-03-29T00:30:00.000Z',
  ]);
  const { code, stdout, stderr } = await command(['search', 'row:0', '--index', timed, '--camera', 'nroth']);
  const sentence = "halogrid: The index has no frame of camera 'nroth': its cameras are 'north' and 'south'\n";
  assert.deepEqual([code, stdout, stderr], [2, '', sentence]);
});

test('a slow reader gets all of a result that is larger than a pipe holds', async () => {
  const queries = Array.from({ length: 200 }, (_, i) => `row:${i % sizes.length}`);
  // It begins to read when the program prints, and continues when a program that does not wait would be gone.
  const within = ['sh', '-c', '"$@" | { IFS= read -r first; echo "$first"; sleep 0.3; cat; }', 'sh'];
  const { stdout } = await halogrid(['search', ...queries, '--index', index, '--json'], { within });
  assert.ok(stdout.length > 2 ** 17);
  assert.equal(JSON.parse(stdout).length, queries.length);
});

test('the pixels of a cell, from a picture or a video frame, find that cell, with the codes of the whole image', async () => {
  const [out, cells] = [join(folder, 'celled'), join(folder, 'celled-index')];
  const video = fileURLToPath(new URL('../samples/videos/cam1.mp4', import.meta.url));
  const query = join(frames, '3.pgm');
  await makeIndex([frames, video], out, cells, ['--to', '00:00:01', '--grid', '2x2']);
  // The picture has 64 x 40 pixels, the video 480 x 270.
  for (const [text, region, uri] of [
    [query, '32,20,32x20', pathToFileURL(query).href],
    [`${video}#3`, '240,135,240x135', pathToFileURL(video).href],
  ] as const) {
    const words = ['search', text, '--region', region, '--cells', '--per-source', '1', '--top', '1', '--index', cells];
    const { code, stdout, stderr } = await command([...words, '--json']);
    assert.equal(code, 0, stderr);
    const [{ results }] = JSON.parse(stdout);
    const [{ uri: found, score, cellRow, cellColumn }] = results;
    assert.deepEqual({ found, score, cellRow, cellColumn }, { found: uri, score: 1, cellRow: 1, cellColumn: 1 });
  }
});

test('a search that cannot be done gives one sentence', async () => {
  const wrong: [string[], number, RegExp][] = [
    [['row:5'], 1, /^halogrid: There is no row:5: the rows of the index are 0 to 4\n$/],
    [[`${frames}/0.pgm#1`], 1, /^halogrid: Frame 1 of 'file:.*0\.pgm' is not in the index\n$/],
    [['row:0', '--since', '2026-01-01T00:00Z'], 2, /^halogrid: No frame of the index knows when it was captured/],
    [
      ['row:0', '--region', '9,9,99x99'],
      1,
      /^halogrid: The query 'row:0' cannot be used: The region 9,9,99x99 is not inside/,
    ],
    [['row:0', '--region', '0,0'], 2, /^halogrid: Expected --cells with --region ROW,COLUMN/],
    [['row:0', '--camera', 'north'], 2, /^halogrid: No frame of the index knows its camera/],
  ];
  for (const [args, code, sentence] of wrong) {
    const ended = await command(['search', ...args, '--index', index]);
    assert.deepEqual([ended.code, ended.stdout], [code, '']);
    assert.match(ended.stderr, sentence);
  }
  assert.equal(existsSync(join(index, 'writer.json')), false);
});

test('a labelled tree is evaluated, with the documented JSON, a curve and a sheet', async () => {
  const [tree, written] = [join(folder, 'tree'), join(folder, 'evaluated')];
  // Two classes that no descriptor could confuse, whose pictures differ only in noise, and one class with a single
  // picture.
  for (const [label, count] of Object.entries({ slopes: 3, stripes: 2, alone: 1 })) {
    mkdirSync(join(tree, label), { recursive: true });
    for (let i = 0; i < count; i++) {
      const picture = drawPicture(48, 40, i + 1);
      const { pixels } = picture;
      for (let at = 0; at < pixels.length; at++) {
        if (label === 'stripes') pixels[at] = at % 4 < 2 ? 255 : pixels[at]! >> 4;
        if (label === 'alone') pixels[at] = 128;
      }
      await writePgm(join(tree, label, `${i}.pgm`), picture);
    }
  }
  const { code, stdout, stderr } = await command([
    'evaluate',
    tree,
    '--device',
    'cpu',
    '--grid',
    '2x2',
    '--json',
    '--out',
    written,
  ]);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^Classes with one image, which is compared but is not a query: alone\.$/m);
  const { images, classes, tpr, recognition_rate, map, threshold, fpr } = JSON.parse(stdout);
  assert.deepEqual({ images, classes, tpr, recognition_rate }, { images: 6, classes: 3, tpr: 1, recognition_rate: 1 });
  assert.ok(map > 0.5 && threshold > 0 && threshold < 1 && fpr < 1);
  assert.match(readFileSync(join(written, 'roc.svg'), 'utf8'), /^<svg [^>]*>\n<title>6 images of 3 classes<\/title>/);
  assert.equal(readFileSync(join(written, 'evaluation.json'), 'utf8'), stdout);

  const several = ['--pipeline', 'plain=lbp', '--pipeline', 'third=ldp:order=3', '--distance', 'intersection,chi2'];
  const both = await command(['evaluate', tree, '--device', 'cpu', '--block', '20x24', ...several, '--json']);
  assert.equal(both.code, 0, both.stderr);
  const [first, ...others] = JSON.parse(both.stdout);
  // Blocks of 20 rows and 24 columns divide 48 x 40 pixels like a grid of 2 x 2.
  const { name: _, ...same } = first;
  assert.deepEqual(same, JSON.parse(stdout));
  assert.deepEqual(
    [first, ...others].map(({ name, grid, distance }) => [name, grid, distance]),
    [
      ['plain', '2x2', 'intersection'],
      ['plain', '2x2', 'chi2'],
      ['third', '2x2', 'intersection'],
      ['third', '2x2', 'chi2'],
    ],
  );

  const ended = await command(['evaluate', frames]);
  assert.equal(ended.code, 2);
  assert.match(
    ended.stderr,
    /^halogrid: Expected a folder with a sub-folder for each class but '.*frames' has none\n$/,
  );
});
