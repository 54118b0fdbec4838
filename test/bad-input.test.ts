import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { ServingCluster } from './cluster.ts';
import { lbpByDefinition, type Picture } from './lbp-definition.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { readMap } from './read-map.ts';
import { readErrors, readHistogram, readJson, sha256 } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// Inputs that cannot be processed are set aside with a sentence that says why; everything else is processed.

const folder = scratchFolder();
const source = join(folder, 'source');
const fixtures = fileURLToPath(new URL('../libs/imaging/fixtures', import.meta.url));
let cluster: ServingCluster;

/** Each bad input, the stage that fails, and what the sentence must say. */
const bad: Record<string, [stage: 'read' | 'decode', sentence: RegExp]> = {
  'a folder in a manifest': ['read', /folder/],
  // The first input of the folder, by which nodes would be probed. Each process sees a different file there, of size 0.
  ...(process.platform === 'linux' && { 'a-link-to-environ.png': ['decode', /empty/] }),
  'bomb.png': ['decode', /^60000x60000 is 3600000000 pixels, more than /],
  'cmyk.jpg': ['decode', /CMYK/],
  'clip.mp4': ['decode', /^The file begins as a recording of a Hikvision recorder, but is not one: /],
  'export.dav': ['decode', /^A recording of a Dahua recorder that is encrypted .* is not supported: /],
  'link-to-nothing.png': ['read', /does not exist|no such file/i],
  'missing.png': ['read', /does not exist|no such file/i],
  'photo.heic': ['decode', /^HEIF is not supported/],
  'photo.nef': ['decode', /^Camera raw is not supported: /],
  'pipe.png': ['read', /named pipe/],
  'text.png': ['decode', /^Not an image: .* text "These are words/],
  'truncated.jpg': ['decode', /cut off/],
  'truncated.png': ['decode', /cut off/],
  'zero-bytes.png': ['decode', /empty/],
  // Not for root, which may read anything.
  ...(process.getuid?.() !== 0 && { 'unreadable.png': ['read', /permission/i] }),
};

/**
 * Inputs that are opened when the job is planned: recordings, files with the name of an unsupported format, and files
 * of size 0.
 */
const opened = [
  'a-link-to-environ.png',
  'clip.mp4',
  'export.dav',
  'photo.heic',
  'photo.nef',
  'pipe.png',
  'zero-bytes.png',
];

const good: Record<string, Picture> = {
  'one-pixel.pgm': { width: 1, height: 1, pixels: Uint8Array.of(7) },
  'good.pgm': drawPicture(64, 48),
  'inner.pgm': drawPicture(20, 30),
};

before(async () => {
  mkdirSync(join(source, 'folder.png'), { recursive: true });
  const put = (name: string, bytes: Uint8Array | string) => writeFileSync(join(source, name), bytes);
  const fixture = (name: string) => readFileSync(join(fixtures, name));
  for (const name of ['bomb.png', 'cmyk.jpg']) copyFileSync(join(fixtures, name), join(source, name));
  put('text.png', 'These are words and no picture.\n');
  put('photo.heic', '\0\0\0\x1cftypheic');
  put('zero-bytes.png', '');
  put('truncated.jpg', fixture('420.jpg').subarray(0, 3000));
  put('truncated.png', fixture('rgb.png').subarray(0, 9000));
  put('export.dav', `XHAV${'\0'.repeat(100)}`);
  put('clip.mp4', `IMKH${'\0'.repeat(100)}`);
  copyFileSync(join(fixtures, 'tiled-gray-none.tif'), join(source, 'photo.nef'));
  for (const name of ['Thumbs.db', 'notes.txt', 'more.txt', 'readme', '.hidden.png']) put(name, 'x');
  mkdirSync(join(source, '@eaDir'));
  put('@eaDir/thumbnail.png', fixture('gray.png'));
  if ('a-link-to-environ.png' in bad) symlinkSync('/proc/self/environ', join(source, 'a-link-to-environ.png'));
  symlinkSync('nothing', join(source, 'link-to-nothing.png'));
  execFileSync('mkfifo', [join(source, 'pipe.png')]);
  if ('unreadable.png' in bad) {
    copyFileSync(join(fixtures, 'gray.png'), join(source, 'unreadable.png'));
    chmodSync(join(source, 'unreadable.png'), 0);
  }
  await writePgm(join(source, 'one-pixel.pgm'), good['one-pixel.pgm']!);
  await writePgm(join(source, 'good.pgm'), good['good.pgm']!);
  // A folder is searched, even if it is named like a file.
  await writePgm(join(source, 'folder.png', 'inner.pgm'), good['inner.pgm']!);
  writeFileSync(join(folder, 'manifest.txt'), 'source/folder.png\nmissing.png\n');
  cluster = await sharedCluster();
});
after(() => cluster?.stop());

for (const tile of [[], ['--tile', '16']]) {
  test(`bad inputs among good ones, ${tile.join(' ') || 'as frames'}`, async () => {
    const out = join(folder, `out${tile.length}`);
    const args = ['run', source, join(folder, 'manifest.txt'), '--border', 'wrap', '--map', 'tiff', '--out', out];
    const { code, stdout, stderr } = await cluster.halogrid([...args, ...tile, '--json']);
    assert.equal(code, 3, stderr);

    const errors = new Map(readErrors(out).map((line) => [nameOf(line.uri), line]));
    assert.deepEqual([...errors.keys()].sort(), Object.keys(bad).sort());
    for (const [name, { stage, error, frame, attempts, ...rest }] of errors) {
      const [expectedStage, sentence] = bad[name]!;
      assert.equal(stage, expectedStage, `${name}: ${error}`);
      assert.match(error, sentence, name);
      assert.doesNotMatch(error, /\n/, name);
      assert.equal(frame, 0);
      // Images to be cut into tiles are opened too: without a good header, they are never leased.
      const isLeased = tile.length === 0 ? !opened.includes(name) : name.startsWith('truncated');
      assert.equal(attempts, isLeased ? 1 : 0, name);
      assert.deepEqual(Object.keys(rest), ['uri']);
    }

    const results = Object.values(good).map((picture) => lbpByDefinition(picture, 'wrap', 'nw-cw-msb'));
    const { bins, counted } = readHistogram(out);
    assert.deepEqual(
      bins,
      bins.map((_, code) => results.reduce((sum, result) => sum + result.bins[code]!, 0)),
    );
    const pixels = Object.values(good).reduce((sum, { width, height }) => sum + width * height, 0);
    assert.equal(counted, pixels);
    const job = readJson(out, 'job.json');
    const inputs = Object.keys(bad).length + Object.keys(good).length;
    const { shards, attempts, ...counts } = job.counts;
    assert.deepEqual(counts, {
      sources: inputs,
      frames: Object.keys(good).length,
      pixels,
      quarantined: Object.keys(bad).length,
    });
    // Nodes do not compute the remaining tiles of an image that was set aside.
    const answered = job.nodes.reduce((sum: number, node: { shards: number }) => sum + node.shards, 0);
    assert.ok(tile.length > 0 ? answered < shards : answered === shards, `${answered} of ${shards}`);
    // On a busy machine a shard may take long enough for the coordinator to lease it to another node too.
    assert.ok(attempts <= 1.1 * shards, `${attempts} of ${shards}`);
    assert.deepEqual(JSON.parse(stdout).counts, job.counts);
    const notes = ['5 files left out: 2 .txt, 1 .db, 1 hidden, 1 without an extension', '1 folder left out: 1 @eaDir'];
    assert.deepEqual([job.notes, JSON.parse(stdout).notes], [notes, notes]);
    for (const note of notes) assert.ok(stderr.includes(`${note}\n`), stderr);
    const quarantined = job.sources.filter((entry: { quarantined?: true }) => entry.quarantined);
    assert.deepEqual(quarantined.map(({ uri }: { uri: string }) => nameOf(uri)).sort(), Object.keys(bad).sort());

    const maps = { 'one-pixel.pgm': 'one-pixel', 'good.pgm': 'good', 'inner.pgm': 'folder.png-inner' };
    for (const [i, map] of Object.values(maps).entries()) {
      const { codes } = await readMap(join(out, 'maps', `${map}.tif`));
      assert.equal(sha256(codes), sha256(results[i]!.codes), map);
    }
  });
}

/** The key of an input in `bad`. The folder in the manifest has the name of a file, so it has its own key. */
function nameOf(uri: string): string {
  if (uri === pathToFileURL(join(source, 'folder.png')).href) return 'a folder in a manifest';
  return basename(fileURLToPath(uri));
}

test('a job without any good input is complete, with an empty histogram', async () => {
  const out = join(folder, 'only-bad');
  const { code } = await cluster.halogrid(['run', join(source, 'zero-bytes.png'), '--out', out]);
  assert.equal(code, 3);
  assert.equal(readHistogram(out).counted, 0);
  assert.equal(readErrors(out).length, 1);
});

for (const tile of [[], ['--tile', '8']]) {
  test(`an image smaller than the kernel is set aside, ${tile.join(' ') || 'as a frame'}`, async () => {
    const out = join(folder, `small${tile.length}`);
    const sources = [join(source, 'good.pgm'), join(source, 'folder.png')];
    const args = ['--op', 'conv:kernel=box-21,as=u8', '--out', out];
    const { code, stderr } = await cluster.halogrid(['run', ...sources, ...args, ...tile]);
    assert.equal(code, 3, stderr);
    assert.deepEqual(
      readErrors(out).map(({ error }) => error),
      ['A 20 x 30 image is smaller than the kernel, which needs 21 pixels a side'],
    );
    assert.equal(readHistogram(out).counted, 64 * 48);
  });
}
