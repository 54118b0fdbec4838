import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import type { Rect } from '../input/rect.ts';
import { assembleMap, type MapOutput } from './assemble-map.ts';
import { chunkPath, writeChunk } from './chunk.ts';
import { assemblePreview } from './preview.ts';

const size = { width: 1300, height: 700 };
const pixels = Uint8Array.from({ length: size.width * size.height }, (_, i) => (i * 2654435761) >>> 24);

test('the map has every pixel in its place and the same bytes, however the image was cut', async (t) => {
  const files = new Set<string>();
  for (const tilePx of [100, 512, 700, 4096]) {
    for (const format of ['tiff', 'png'] as const) {
      const map = await writeMapChunks(t, tilePx, format);
      await assembleMap(map);
      const read = await readGray(map.to);
      assert.ok(read.data.equals(pixels), `${format} from tiles of ${tilePx}`);
      files.add(
        `${format} ${createHash('sha256')
          .update(await readFile(map.to))
          .digest('hex')}`,
      );
    }
  }
  assert.equal(files.size, 2);
});

test('nothing but the map is left, and nothing at all where a chunk is missing', async (t) => {
  const map = await writeMapChunks(t, 512, 'png');
  const folder = join(map.to, '..');
  await assembleMap(map);
  assert.deepEqual((await readdir(folder)).sort(), ['map', 'map.png']);
  await rm(map.to);
  await rm(chunkPath({ ...map, kind: 'map', rect: map.rects[4]! }));
  await assert.rejects(assembleMap(map), /^Error: The map chunk '.*512-512-512-188.u8' is missing$/);
  assert.deepEqual(await readdir(folder), ['map']);
});

test('a chunk of the wrong length is refused', async (t) => {
  const map = await writeMapChunks(t, 4096, 'tiff');
  await truncate(chunkPath({ ...map, kind: 'map', rect: map.rects[0]! }), 1000);
  await assert.rejects(assembleMap(map), /holds 1000 bytes instead of 910000/);
});

test('an abort stops it and leaves nothing', async (t) => {
  const map = await writeMapChunks(t, 512, 'tiff');
  await assert.rejects(assembleMap(map, AbortSignal.abort(new Error('cancelled'))), /cancelled/);
  assert.deepEqual(await readdir(join(map.to, '..')), ['map']);
});

test('the preview is every second pixel of an image of 1300 x 700, however it was cut', async (t) => {
  for (const tilePx of [3, 512, 4096]) {
    const folder = await temporaryFolder(t);
    const small = { width: 1300, height: tilePx === 3 ? 7 : 700 };
    const rects = cut(small, tilePx);
    const set = { scratch: pathToFileURL(folder).href, source: 3, size: small, rects, to: join(folder, 'preview.png') };
    for (const rect of rects) {
      const from = pixels.subarray(rect.y * small.width + rect.x);
      await writeChunk({ ...set, kind: 'preview', rect }, from, small.width);
    }
    await assemblePreview(set);
    const { data, width, height } = await readGray(set.to);
    assert.deepEqual([width, height], [650, Math.ceil(small.height / 2)]);
    const expected = data.map((_, i) => pixels[Math.floor(i / 650) * 2 * small.width + (i % 650) * 2]!);
    assert.deepEqual(data, expected);
  }
});

async function readGray(path: string): Promise<{ data: Buffer; width: number; height: number }> {
  const image = sharp(path);
  const { channels, depth } = await image.metadata();
  assert.deepEqual([channels, depth], [1, 'uchar']);
  const { data, info } = await image.toColourspace('b-w').raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

async function writeMapChunks(t: Cleanup, tilePx: number, format: 'tiff' | 'png'): Promise<MapOutput> {
  const folder = await temporaryFolder(t);
  const rects = cut(size, tilePx);
  const scratch = pathToFileURL(folder).href;
  for (const rect of rects) {
    const from = pixels.subarray(rect.y * size.width + rect.x);
    await writeChunk({ scratch, kind: 'map', source: 0, size, rect }, from, size.width);
  }
  const to = join(folder, format === 'png' ? 'map.png' : 'map.tif');
  return { scratch, source: 0, size, rects, to, format, description: 'nw-cw-msb' };
}

function cut({ width, height }: { width: number; height: number }, tilePx: number): Rect[] {
  const rects: Rect[] = [];
  for (let y = 0; y < height; y += tilePx) {
    for (let x = 0; x < width; x += tilePx) {
      rects.push({ x, y, width: Math.min(tilePx, width - x), height: Math.min(tilePx, height - y) });
    }
  }
  return rects;
}

interface Cleanup {
  after(act: () => Promise<void>): void;
}

async function temporaryFolder(t: Cleanup): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-map-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
