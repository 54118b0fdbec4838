import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, realpath, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { giveBackBytes, restrictSources, takeBytes, unrestricted } from '@halogrid/sources';
import { temporaryFolder } from '../testing/maps.ts';
import { type Chunk, chunkPath, writeChunk } from './chunk.ts';
import { shardContent } from './shard-content.ts';

test('a map chunk holds the rows of its rectangle without the gaps of the stride', async (t) => {
  const folder = await temporaryFolder(t);
  const bytes = Uint8Array.of(1, 2, 3, 0, 4, 5, 6, 0);
  await writeChunk(chunkOf(folder, 'map'), { bytes, strideBytes: 4, bandBytes: 8 });
  assert.deepEqual([...(await readFile(join(folder, 'map/7/2-1-3-2.u8')))], [1, 2, 3, 4, 5, 6]);
});

test('memory that was used before leaves nothing in chunks', async (t) => {
  const folder = await temporaryFolder(t);
  const size = { width: 5, height: 3 };
  const chunk: Chunk = { ...chunkOf(folder, 'shard'), size, rect: { x: 0, y: 0, ...size } };
  const samples = { bytes: new Uint8Array(15), strideBytes: 5, bandBytes: 15 };
  const expected = shardContent(samples, chunk.type, chunk.rect, size);
  const before = takeBytes(expected.length).fill(0xee);
  giveBackBytes(before);
  await writeChunk(chunk, samples);
  assert.deepEqual(await readFile(chunkPath(chunk)), Buffer.from(expected));
  // The memory is there for the next chunk.
  assert.equal(takeBytes(expected.length).buffer, before.buffer);
});

test('no chunk is written outside of the data roots', async (t) => {
  const folder = await realpath(await temporaryFolder(t));
  const root = join(folder, 'root');
  await mkdir(root);
  await mkdir(join(folder, 'rooted'));
  await symlink(join(folder, 'rooted'), join(root, 'far'));
  restrictSources({ roots: [root], hosts: [] });
  t.after(() => restrictSources(unrestricted));
  const forbidden = { name: 'SourceForbiddenError', message: 'The path lies outside of the data roots (--data-root)' };
  const samples = { bytes: new Uint8Array(6), strideBytes: 3, bandBytes: 6 };
  await assert.rejects(writeChunk(chunkOf(join(folder, 'rooted'), 'map'), samples), forbidden);
  await assert.rejects(writeChunk(chunkOf(join(root, 'far'), 'map'), samples), forbidden);
  await writeChunk(chunkOf(root, 'map'), samples);
  assert.equal((await readFile(join(root, 'map/7/2-1-3-2.u8'))).length, 6);
});

test('the bands lie one after another, in a file that is named after their type', async (t) => {
  const folder = await temporaryFolder(t);
  const bytes = Uint8Array.of(
    1,
    2,
    3,
    4,
    5,
    6,
    0,
    0,
    7,
    8,
    9,
    10,
    11,
    12,
    0,
    0,
    0,
    0,
    21,
    22,
    23,
    24,
    25,
    26,
    0,
    0,
    27,
    28,
  );
  const chunk: Chunk = { ...chunkOf(folder, 'map'), type: { sample: 'u16', bands: 2 } };
  await writeChunk({ ...chunk, rect: { ...chunk.rect, height: 1 } }, { bytes, strideBytes: 8, bandBytes: 18 });
  assert.deepEqual(
    [...(await readFile(join(folder, 'map/7/2-1-3-1.u16')))],
    [1, 2, 3, 4, 5, 6, 21, 22, 23, 24, 25, 26],
  );
});

test('a preview chunk holds the pixels on the grid of the image, whatever the tile', async (t) => {
  const folder = await temporaryFolder(t);
  const size = { width: 3000, height: 1 };
  const rect = { x: 2, y: 0, width: 6, height: 1 };
  const bytes = Uint8Array.of(12, 13, 14, 15, 16, 17);
  await writeChunk({ ...chunkOf(folder, 'preview'), size, rect }, { bytes, strideBytes: 6, bandBytes: 6 });
  assert.deepEqual([...(await readFile(join(folder, 'preview/7/2-0-6-1.u8')))], [13, 16]);
});

test('a preview chunk without a pixel of the grid has no file', async (t) => {
  const folder = await temporaryFolder(t);
  const size = { width: 3000, height: 1 };
  const rect = { x: 1, y: 0, width: 2, height: 1 };
  const samples = { bytes: new Uint8Array(2), strideBytes: 2, bandBytes: 2 };
  await writeChunk({ ...chunkOf(folder, 'preview'), size, rect }, samples);
  assert.deepEqual(await readdir(folder), []);
});

test('attempts that race leave one whole file and nothing else', async (t) => {
  const folder = await temporaryFolder(t);
  await Promise.all(Array.from({ length: 8 }, () => writeChunk(chunkOf(folder, 'map'), sixPixels)));
  assert.deepEqual(await readdir(join(folder, 'map/7')), ['2-1-3-2.u8']);
});

test('a late attempt does not bring back the scratch folder of a job that has ended', async (t) => {
  const folder = await temporaryFolder(t);
  await rm(folder, { recursive: true });
  await assert.rejects(writeChunk(chunkOf(folder, 'map'), sixPixels), { code: 'ENOENT' });
  await assert.rejects(readdir(folder), { code: 'ENOENT' });
});

const sixPixels = { bytes: new Uint8Array(6).fill(9), strideBytes: 3, bandBytes: 6 };

function chunkOf(folder: string, kind: Chunk['kind']): Chunk {
  return {
    scratch: pathToFileURL(folder).href,
    kind,
    source: 7,
    size: { width: 10, height: 10 },
    type: { sample: 'u8', bands: 1 },
    rect: { x: 2, y: 1, width: 3, height: 2 },
  };
}
