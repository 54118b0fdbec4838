import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { writeChunk } from '../chunks/chunk.ts';
import type { MapType } from '../layout/map-type.ts';
import { previewStride } from '../layout/preview-grid.ts';
import { cut, someSamples, temporaryFolder, within } from '../testing/maps.ts';
import { assemblePreview, assembleSourcePicture } from './preview.ts';

const table: [name: string, type: MapType, levels: number, width: number, height: number, channels: number][] = [
  ['codes', { sample: 'u8', bands: 1 }, 256, 650, 351, 1],
  ['signed responses', { sample: 'f32', bands: 1 }, 0, 650, 351, 1],
  ['colours', { sample: 'i16', bands: 3 }, 0, 650, 351, 3],
  ['directions', { sample: 'u8', bands: 4 }, 256, 872, 472, 1],
];

for (const [name, type, levels, width, height, channels] of table) {
  test(`the preview of ${name} is an 8-bit PNG that does not depend on how the image was cut`, async (t) => {
    const folder = await temporaryFolder(t);
    const size = { width: 1300, height: 701 };
    const samples = someSamples(size, type);
    const pictures: Buffer[] = [];
    for (const [source, tilePx] of [160, 512, 4096].entries()) {
      const rects = cut(size, tilePx);
      const set = { scratch: pathToFileURL(folder).href, source, size, type, rects };
      for (const rect of rects) {
        await writeChunk({ ...set, kind: 'preview', rect }, within(samples, size, type, rect));
      }
      const to = join(folder, `${tilePx}.png`);
      await assemblePreview({ ...set, to, levels });
      const metadata = await sharp(to).metadata();
      assert.equal(metadata.format, 'png');
      assert.equal(metadata.depth, 'uchar');
      assert.deepEqual([metadata.width, metadata.height, metadata.channels], [width, height, channels]);
      pictures.push(
        await sharp(to)
          .toColourspace(channels === 3 ? 'srgb' : 'b-w')
          .raw()
          .toBuffer(),
      );
    }
    for (const picture of pictures) assert.ok(picture.equals(pictures[0]!));
    if (name !== 'codes') return;
    const step = previewStride(size, 1);
    const expected = pictures[0]!.map((_, i) => samples[Math.floor(i / width) * step * 1300 + (i % width) * step]!);
    assert.deepEqual(pictures[0], expected);
  });
}

test('the picture of a source shows means of its pixels, however the image was cut', async (t) => {
  const folder = await temporaryFolder(t);
  const [size, type] = [{ width: 1300, height: 701 }, { sample: 'u8', bands: 1 } as const];
  // Every second pixel of the image is black.
  const chequered = Uint8Array.from({ length: size.width * size.height }, (_, i) => {
    return (Math.floor(i / size.width) + (i % size.width)) % 2 ? 200 : 0;
  });
  const files: Buffer[] = [];
  for (const [source, tilePx] of [161, 512, 4096].entries()) {
    const rects = cut(size, tilePx);
    const set = { scratch: pathToFileURL(folder).href, source, size, rects };
    for (const rect of rects) {
      await writeChunk({ ...set, type, kind: 'sums', rect }, within(chequered, size, type, rect));
    }
    const to = join(folder, `${tilePx}.jpg`);
    await assembleSourcePicture({ ...set, bands: 1, to });
    files.push(await readFile(to));
  }
  for (const file of files) assert.ok(file.equals(files[0]!));
  const { data, info } = await sharp(files[0]).toColourspace('b-w').raw().toBuffer({ resolveWithObject: true });
  assert.deepEqual([info.width, info.height, info.channels], [650, 351, 1]);
  assert.ok(data.every((value) => Math.abs(value - 100) <= 2));
});
