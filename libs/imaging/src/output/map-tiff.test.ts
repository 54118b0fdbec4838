import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import sharp from 'sharp';
import { MapTiffWriter } from './map-tiff.ts';
import { layOutMapTiff } from './map-tiff-layout.ts';

const sizes = [
  { width: 1, height: 1 },
  { width: 16, height: 17 },
  { width: 512, height: 512 },
  { width: 513, height: 511 },
  { width: 511, height: 1025 },
];

for (const isBigTiff of [false, true]) {
  const kind = isBigTiff ? 'BigTIFF' : 'TIFF';
  for (const size of sizes) {
    test(`another reader finds every pixel of a ${size.width}x${size.height} ${kind}`, async (t) => {
      const path = join(await temporaryFolder(t), 'map.tif');
      const pixels = Uint8Array.from({ length: size.width * size.height }, (_, i) => (i * 2654435761) >>> 24);
      await writeTiff(path, size, pixels, isBigTiff ? 0 : undefined);

      const metadata = await sharp(path).metadata();
      assert.equal(metadata.format, 'tiff');
      assert.equal(metadata.depth, 'uchar');
      assert.equal(metadata.channels, 1);
      const { data, info } = await sharp(path).toColourspace('b-w').raw().toBuffer({ resolveWithObject: true });
      assert.deepEqual({ width: info.width, height: info.height, channels: info.channels }, { ...size, channels: 1 });
      assert.ok(data.equals(pixels));
      assert.equal((await readFile(path))[2], isBigTiff ? 43 : 42);
      assert.equal(
        (await stat(path)).size,
        layOutMapTiff(size, 'nw-cw-msb', 'halogrid', isBigTiff ? 0 : undefined).fileBytes,
      );
    });
  }
}

test('a map of more than 4 GB is BigTIFF, one that just fits is not', () => {
  assert.equal(layOutMapTiff({ width: 65024, height: 65536 }, '', 'halogrid').isBigTiff, false);
  assert.equal(layOutMapTiff({ width: 65536, height: 65536 }, '', 'halogrid').isBigTiff, true);
});

test('the file names its convention and its writer', async (t) => {
  const path = join(await temporaryFolder(t), 'map.tif');
  await writeTiff(path, { width: 2, height: 1 }, Uint8Array.of(1, 2), undefined);
  const text = (await readFile(path)).toString('latin1');
  assert.ok(text.includes('nw-cw-msb\0'));
  assert.ok(text.includes('halogrid\0'));
});

async function writeTiff(
  path: string,
  size: { width: number; height: number },
  pixels: Uint8Array,
  classicBytes: number | undefined,
): Promise<void> {
  const writer = await MapTiffWriter.create(path, size, 'nw-cw-msb', classicBytes);
  for (let y = 0; y < size.height; y += writer.bandRows) {
    await writer.writeBand(pixels.subarray(y * size.width, (y + writer.bandRows) * size.width));
  }
  await writer.finish();
}

async function temporaryFolder(t: { after(act: () => Promise<void>): void }): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-tiff-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
