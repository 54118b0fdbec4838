import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryFile } from '@halogrid/sources/testing-files';
import sharp from 'sharp';
import { openImage } from '../open-image.ts';

// libvips writes the Exif, as libexif lays it out; ExifTool 12.57 reads 2026:01:31 08:00:00.250+02:00 in each of these
// files.
const exif = {
  IFD2: { DateTimeOriginal: '2026:01:31 08:00:00', SubSecTimeOriginal: '250', OffsetTimeOriginal: '+02:00' },
};

test('images of every format with Exif tell when they were captured, and others do not', async (t) => {
  const plain = sharp(Buffer.alloc(64 * 48, 100), { raw: { width: 64, height: 48, channels: 1 } }).toColourspace('b-w');
  for (const format of ['jpeg', 'png', 'webp'] as const) {
    for (const [picture, expected] of [
      [plain.clone().withExif(exif), { localMs: Date.UTC(2026, 0, 31, 8, 0, 0, 250), offsetMinutes: 120 }],
      [plain.clone(), undefined],
    ] as const) {
      const content = await picture.toFormat(format).toBuffer();
      const image = await openImage(await temporaryFile(t, `a.${format}`, content));
      assert.deepEqual(image.captured, expected, format);
      await image.close();
    }
  }
});

test('a TIFF tells it in the directory that its first directory names, and damage there does not damage the image', async (t) => {
  const picture = sharp(Buffer.alloc(64 * 48, 100), { raw: { width: 64, height: 48, channels: 1 } }).toColourspace(
    'b-w',
  );
  for (const tile of [false, true]) {
    const tiff = await picture.clone().tiff({ compression: 'none', tile, tileWidth: 16, tileHeight: 16 }).toBuffer();
    const read = async (content: Buffer): Promise<unknown> => {
      const image = await openImage(await temporaryFile(t, 'a.tif', content));
      await image.close();
      return image.captured;
    };
    assert.equal(await read(tiff), undefined);
    const stated = { localMs: Date.UTC(2026, 0, 31, 8), offsetMinutes: 120 };
    assert.deepEqual(await read(withExif(tiff)), stated);
    assert.equal(await read(withExif(tiff, 2 ** 31)), undefined);
  }
});

/**
 * A little-endian TIFF with one more entry in its first directory, which leads to an Exif, by the layout of TIFF 6.0.
 */
function withExif(tiff: Buffer, place?: number): Buffer {
  const start = tiff.readUInt32LE(4);
  const count = tiff.readUInt16LE(start);
  const entries = tiff.subarray(start + 2, start + 2 + 12 * count);
  const entry = (tag: number, type: number, values: number, value: number): Buffer => {
    const bytes = Buffer.alloc(12);
    bytes.writeUInt16LE(tag, 0);
    bytes.writeUInt16LE(type, 2);
    bytes.writeUInt32LE(values, 4);
    bytes.writeUInt32LE(value, 8);
    return bytes;
  };
  const directory = (of: Buffer[]): Buffer => {
    const length = Buffer.alloc(2);
    length.writeUInt16LE(of.length);
    return Buffer.concat([length, ...of, Buffer.alloc(4)]);
  };
  const at = tiff.length + (tiff.length % 2);
  const texts = Buffer.from('2026:01:31 08:00:00\0+02:00\0\0');
  const exifAt = at + texts.length;
  const exifDirectory = directory([entry(0x9003, 2, 20, at), entry(0x9011, 2, 7, at + 20)]);
  const pointer = entry(0x8769, 4, 1, place ?? exifAt);
  const sorted = [...Array(count).keys()].map((i) => entries.subarray(12 * i, 12 * i + 12));
  const first = directory([...sorted, pointer].sort((a, b) => a.readUInt16LE(0) - b.readUInt16LE(0)));
  const head = Buffer.from(tiff);
  head.writeUInt32LE(exifAt + exifDirectory.length, 4);
  return Buffer.concat([head, Buffer.alloc(at - tiff.length), texts, exifDirectory, first]);
}
