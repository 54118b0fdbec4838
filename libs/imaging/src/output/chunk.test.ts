import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type Chunk, writeChunk } from './chunk.ts';

test('a map chunk holds the rows of its rectangle without the gaps of the stride', async (t) => {
  const folder = await temporaryFolder(t);
  const codes = Uint8Array.of(1, 2, 3, 0, 4, 5, 6, 0);
  await writeChunk(chunkOf(folder, 'map'), codes, 4);
  assert.deepEqual([...(await readFile(join(folder, 'map/7/2-1-3-2.u8')))], [1, 2, 3, 4, 5, 6]);
});

test('a preview chunk holds the pixels on the grid of the image, whatever the tile', async (t) => {
  const folder = await temporaryFolder(t);
  const size = { width: 3000, height: 1 };
  const rect = { x: 2, y: 0, width: 6, height: 1 };
  await writeChunk({ ...chunkOf(folder, 'preview'), size, rect }, Uint8Array.of(12, 13, 14, 15, 16, 17), 6);
  assert.deepEqual([...(await readFile(join(folder, 'preview/7/2-0-6-1.u8')))], [13, 16]);
});

test('a preview chunk without a pixel of the grid is no file', async (t) => {
  const folder = await temporaryFolder(t);
  const size = { width: 3000, height: 1 };
  await writeChunk(
    { ...chunkOf(folder, 'preview'), size, rect: { x: 1, y: 0, width: 2, height: 1 } },
    new Uint8Array(2),
    2,
  );
  assert.deepEqual(await readdir(folder), []);
});

test('attempts that race leave one whole file and nothing else', async (t) => {
  const folder = await temporaryFolder(t);
  const codes = new Uint8Array(6).fill(9);
  await Promise.all(Array.from({ length: 8 }, () => writeChunk(chunkOf(folder, 'map'), codes, 3)));
  assert.deepEqual(await readdir(join(folder, 'map/7')), ['2-1-3-2.u8']);
});

test('a late attempt does not bring back the scratch folder of a job that has ended', async (t) => {
  const folder = await temporaryFolder(t);
  await rm(folder, { recursive: true });
  await assert.rejects(writeChunk(chunkOf(folder, 'map'), new Uint8Array(6), 3), { code: 'ENOENT' });
  await assert.rejects(readdir(folder), { code: 'ENOENT' });
});

function chunkOf(folder: string, kind: Chunk['kind']): Chunk {
  const scratch = pathToFileURL(folder).href;
  return { scratch, kind, source: 7, size: { width: 10, height: 10 }, rect: { x: 2, y: 1, width: 3, height: 2 } };
}

async function temporaryFolder(t: { after(act: () => Promise<void>): void }): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-chunk-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
