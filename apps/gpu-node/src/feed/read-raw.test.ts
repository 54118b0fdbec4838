import assert from 'node:assert/strict';
import { statSync, truncateSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { localVersion, restrictSources, unrestricted } from '@halogrid/sources';
import { memberUri } from '@halogrid/sources/member-uri';
import { packFiles, unpackFiles } from './asked-files.ts';
import { rawWords } from './raw-orders.ts';
import { readRaw } from './read-raw.ts';

const limits = { planesBytes: 2 ** 16, minSide: 3 };

async function inFolder(t: TestContext): Promise<(name: string, content: Uint8Array | string) => Promise<string>> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-test-'));
  t.after(() => rm(folder, { recursive: true }));
  return async (name, content) => {
    await writeFile(join(folder, name), content);
    return pathToFileURL(join(folder, name)).href;
  };
}

/** A file of a frame whose pixels count up from `first`. */
const frame = (width: number, height: number, first = 0, magic = 'P5', maxval = 255): Buffer =>
  Buffer.concat([
    Buffer.from(`${magic}\n# by hand\n${width} ${height}\n${maxval}\n`),
    Buffer.from(
      Array.from({ length: width * height * (magic === 'P6' ? 3 : 1) * (maxval > 255 ? 2 : 1) }, (_, i) => first + i),
    ),
  ]);

/** For each taken frame: position, width, height and offset. */
const rowsOf = ({ taken }: { taken: Uint32Array }): number[][] =>
  Array.from({ length: taken.length / rawWords }, (_, i) => [...taken.subarray(i * rawWords, (i + 1) * rawWords)]);

test('a frame in a tar becomes the same plane', async (t) => {
  const put = await inFolder(t);
  const bytes = frame(32, 8, 7);
  const tar = await put('a.tar', Buffer.concat([Buffer.alloc(512, 1), bytes, Buffer.alloc(900, 1)]));
  const alone = await put('a.pgm', bytes);
  const cut = memberUri(tar, { name: 'b.pgm', start: 512, length: bytes.length - 1 });
  const member = memberUri(tar, { name: 'a.pgm', start: 512, length: bytes.length });
  const planes = async (uri: string) => {
    const to = new Uint8Array(limits.planesBytes);
    const { done, taken, inputBytes } = await readRaw(unpackFiles(packFiles([{ uri }])), to, limits);
    return { done, rows: rowsOf({ taken }), inputBytes, to };
  };
  assert.deepEqual(await planes(member), await planes(alone));
  assert.deepEqual((await planes(cut)).rows, []);
});

test('frames become planes with rows on boundaries of 16 bytes, and files that are not for devices are left out', async (t) => {
  const put = await inFolder(t);
  const files = [
    await put('a.pgm', frame(32, 8, 7)),
    await put('colour.ppm', frame(32, 8, 0, 'P6')),
    await put('deep.pgm', frame(32, 8, 0, 'P5', 65_535)),
    await put('plain.pgm', 'P2 3 3 9 1 2 3 4 5 6 7 8 9'),
    await put('odd.pgm', frame(5, 3, 40)),
    await put('small.pgm', frame(2, 9)),
    await put('short.pgm', frame(32, 8).subarray(0, -1)),
    await put('other.pgm', 'no picture'),
    await put('empty.pgm', ''),
    'file:///nowhere.pgm',
    'file://%',
    await put('long.pgm', Buffer.concat([frame(16, 16, 90), Buffer.alloc(100)])),
  ];
  const to = new Uint8Array(limits.planesBytes);
  const batch = await readRaw(
    files.map((uri) => ({ uri })),
    to,
    limits,
  );
  assert.equal(batch.done, files.length);
  assert.deepEqual(rowsOf(batch), [
    [0, 32, 8, 0],
    [4, 5, 3, 256],
    [11, 16, 16, 512],
  ]);
  assert.deepEqual(
    [...to.subarray(0, 256)],
    Array.from({ length: 256 }, (_, i) => (7 + i) % 256),
  );
  for (const [row, first] of [40, 45, 50].entries()) {
    assert.deepEqual(
      [...to.subarray(256 + 16 * row, 261 + 16 * row)],
      [0, 1, 2, 3, 4].map((x) => first + x),
    );
  }
  assert.equal(to[512 + 255], (90 + 255) % 256);
});

test('a batch ends if the next frame has no room; a frame too large for an empty batch is left out', async (t) => {
  const put = await inFolder(t);
  const uri = await put('a.pgm', frame(16, 16));
  const large = await put('large.pgm', frame(64, 64));
  const files = [large, ...Array.from({ length: 20 }, () => uri)].map((it) => ({ uri: it }));
  const to = new Uint8Array(2 ** 16);
  const batch = await readRaw(files, to, { ...limits, planesBytes: 11 * 256 + 255 });
  assert.deepEqual([batch.done, rowsOf(batch).length], [12, 11]);
  const none = await readRaw(files, to, { ...limits, planesBytes: 255 });
  assert.deepEqual([none.done, rowsOf(none).length], [21, 0]);
});

test('a file that is not the planned version, or that lies outside of the data roots, is left to cores', async (t) => {
  const put = await inFolder(t);
  const uri = await put('a.pgm', frame(16, 16));
  const version = localVersion(statSync(new URL(uri)));
  const read = async () => rowsOf(await readRaw([{ uri, version }], new Uint8Array(2 ** 12), limits)).length;
  assert.equal(await read(), 1);
  restrictSources({ roots: ['/nowhere'], hosts: undefined });
  t.after(() => restrictSources(unrestricted));
  assert.equal(await read(), 0);
  restrictSources(unrestricted);
  truncateSync(new URL(uri), 300);
  assert.equal(await read(), 0);
});

test('files are unpacked as they were packed', () => {
  const files = [
    { uri: 'file:///a', version: '1 2' },
    { uri: 'file:///b%0A', version: undefined },
  ];
  assert.deepEqual(unpackFiles(packFiles(files)), files);
  const odd = packFiles([
    { uri: 'file:///a', version: '1\n2' },
    { uri: 'file:///b', version: '3' },
  ]);
  assert.deepEqual(
    unpackFiles(odd).map(({ version }) => version === '3'),
    [false, true],
  );
});
