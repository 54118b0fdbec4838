import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { temporaryFile } from '@halogrid/sources/testing-files';
import { sendFile, startServer } from '@halogrid/sources/testing-servers';
import sharp from 'sharp';
import { openImage } from '../../open-image.ts';
import { peekSize } from '../../peek-size.ts';
import { decodeOpen, decodeWhole } from '../../testing/images.ts';
import { type WrittenTiff, writeTiff } from './testing/write-tiff.ts';

const [width, height] = [21, 18];
const gray = Uint8Array.from({ length: width * height }, (_, i) => (i * 37 + (i >> 3)) & 255);

/** The rows of a picture with any kind of samples. */
const rows = (from: number, to: number, of = gray): Uint8Array => {
  const rowBytes = of.length / height;
  return of.subarray(from * rowBytes, Math.min(height, to) * rowBytes);
};
const strips = [rows(0, 8), rows(8, 16), rows(16, 18)];
const inStrips = { width, height, blocks: strips };
const eight = { RowsPerStrip: [8] };

/** The picture in tiles of 16 x 16; pixels beyond it are 99. */
const tiles = [0, 1, 2, 3].map((tile) =>
  Uint8Array.from({ length: 256 }, (_, i) => {
    const [x, y] = [(tile % 2) * 16 + (i % 16), (tile >> 1) * 16 + (i >> 4)];
    return x < width && y < height ? gray[y * width + x]! : 99;
  }),
);
const sixteen = { TileWidth: [16], TileLength: [16] };
const none = new Uint8Array(0);

/** The picture with changed pixels in one tile or strip. */
const withTile = (tile: number, value: number): Uint8Array =>
  gray.map((old, i) => (((i % width) >> 4) + 2 * (Math.floor(i / width) >> 4) === tile ? value : old));
const withRows = (from: number, to: number, value: number, of = gray): Uint8Array =>
  of.map((old, i) => (Math.floor(i / width) >= from && Math.floor(i / width) < to ? value : old));

const read: [what: string, file: WrittenTiff, pixels: Uint8Array][] = [
  ['a text without a NUL', { ...inStrips, tags: { ...eight, 270: 'no end mark here' } }, gray],
  ['a text with a NUL inside', { ...inStrips, tags: { ...eight, 306: '2009:03:12\0 4:11:12\0' } }, gray],
  ['tags that are not in order', { ...inStrips, tags: eight, isUnsorted: true }, gray],
  ['a text where a number belongs', { ...inStrips, tags: { ...eight, 296: 'cm\0' } }, gray],
  ['a resolution of integers', { ...inStrips, tags: { ...eight, 282: [72], 283: [72] } }, gray],
  ['no lengths of strips', { ...inStrips, tags: { ...eight, StripByteCounts: null } }, gray],
  ['a length of 0', { width, height, blocks: [gray], tags: { StripByteCounts: [0] } }, gray],
  ['lengths of 0', { ...inStrips, tags: { ...eight, StripByteCounts: [0, 0, 0] } }, gray],
  [
    'no lengths of compressed strips',
    {
      ...inStrips,
      blocks: strips.map((strip) => deflateSync(strip)),
      tags: { ...eight, Compression: [8], StripByteCounts: null },
    },
    gray,
  ],
  [
    'no lengths of compressed tiles',
    {
      ...inStrips,
      blocks: tiles.map((tile) => deflateSync(tile)),
      tags: { ...sixteen, Compression: [8], TileByteCounts: null },
    },
    gray,
  ],
  ['no RowsPerStrip', { width, height, blocks: [gray], tags: { RowsPerStrip: null } }, gray],
  ['a strip without end', { width, height, blocks: [gray], tags: { RowsPerStrip: [0xffffffff] } }, gray],
  ['no SamplesPerPixel', { ...inStrips, tags: { ...eight, SamplesPerPixel: null } }, gray],
  ['a text for the kind of page', { ...inStrips, tags: { ...eight, NewSubfileType: 'page\0' } }, gray],
  [
    'tags of colours and methods that it does not have',
    {
      ...inStrips,
      tags: {
        ...eight,
        YCbCrSubSampling: 'a\0',
        Predictor: 'b\0',
        PlanarConfiguration: [0],
        ColorMap: [1],
        T4Options: 'c\0',
      },
    },
    gray,
  ],
  ['undefined samples', { ...inStrips, tags: { ...eight, SampleFormat: [4] } }, gray],
  [
    'gray of three samples, two of them alpha',
    {
      width,
      height,
      blocks: [Uint8Array.from({ length: 3 * gray.length }, (_, i) => (i % 3 === 0 ? gray[i / 3]! : 255 - (i & 127)))],
      tags: { SamplesPerPixel: [3], BitsPerSample: [8, 8, 8], ExtraSamples: [1, 2] },
    },
    gray,
  ],
  [
    'bits of one of several samples',
    {
      width,
      height,
      blocks: [Uint8Array.from({ length: 2 * gray.length }, (_, i) => (i % 2 === 0 ? gray[i / 2]! : 7))],
      tags: { SamplesPerPixel: [2], BitsPerSample: [8], ExtraSamples: [2] },
    },
    gray,
  ],
  ['more bytes in a strip than its pixels', { width, height, blocks: [Buffer.concat([gray, gray])] }, gray],
  [
    'tiles of 20 x 12',
    {
      width,
      height,
      blocks: [0, 1, 2, 3].map((tile) =>
        Uint8Array.from({ length: 240 }, (_, i) => {
          const [x, y] = [(tile % 2) * 20 + (i % 20), (tile >> 1) * 12 + Math.floor(i / 20)];
          return gray[y * width + x] ?? 0;
        }),
      ),
      tags: { TileWidth: [20], TileLength: [12] },
    },
    gray,
  ],
  ['a tile that is not there', { width, height, blocks: tiles.with(1, none), tags: sixteen }, withTile(1, 0)],
  [
    'a tile that is not there, with a value for missing data',
    { width, height, blocks: tiles.with(2, none), tags: { ...sixteen, GDAL_NODATA: '7\0' } },
    withTile(2, 7),
  ],
  [
    'a value for missing data beyond the range of a sample',
    { width, height, blocks: tiles.with(2, none), tags: { ...sixteen, GDAL_NODATA: '-9999\0' } },
    withTile(2, 0),
  ],
  [
    'a value for missing data that is not a number',
    { width, height, blocks: tiles.with(2, none), tags: { ...sixteen, GDAL_NODATA: 'nan\0' } },
    withTile(2, 0),
  ],
  [
    'a strip that is not there, with a fraction',
    { ...inStrips, blocks: strips.with(1, none), tags: { ...eight, GDAL_NODATA: '41.5\0' } },
    withRows(8, 16, 42),
  ],
  [
    'a strip that is not there, of white that is 0',
    {
      ...inStrips,
      blocks: strips.with(2, none),
      tags: { ...eight, PhotometricInterpretation: [0], GDAL_NODATA: '3\0' },
    },
    withRows(
      16,
      18,
      252,
      gray.map((value) => 255 - value),
    ),
  ],
  [
    'a strip that is not there of one of three planes',
    {
      width,
      height,
      blocks: [...strips, strips[0]!, none, strips[2]!, ...strips],
      tags: {
        ...eight,
        SamplesPerPixel: [3],
        BitsPerSample: [8, 8, 8],
        PlanarConfiguration: [2],
        PhotometricInterpretation: [2],
      },
    },
    gray.map((value, i) => {
      const green = Math.floor(i / width) >= 8 && Math.floor(i / width) < 16 ? 0 : value;
      return (19595 * value + 38470 * green + 7471 * value + 32768) >>> 16;
    }),
  ],
  [
    'a thumbnail first',
    { width: 2, height: 2, blocks: [Uint8Array.of(1, 2, 3, 4)], tags: { NewSubfileType: [1] }, pages: [inPage()] },
    gray,
  ],
  [
    'a thumbnail and a mask first',
    {
      width: 2,
      height: 2,
      blocks: [Uint8Array.of(1, 2, 3, 4)],
      tags: { NewSubfileType: [1] },
      pages: [
        { width, height, blocks: [gray.map(() => 1)], tags: { NewSubfileType: [4] } },
        inPage(),
        { width: 1, height: 1, blocks: [Uint8Array.of(5)] },
      ],
    },
    gray,
  ],
  ['smaller images alone', { ...inPage(), tags: { NewSubfileType: [1] }, pages: [] }, gray],
  ['other pages behind', { ...inPage(), pages: [{ width: 1, height: 1, blocks: [Uint8Array.of(5)] }] }, gray],
];

function inPage(): WrittenTiff {
  return { width, height, blocks: [gray], tags: { NewSubfileType: [0] } };
}

test('a TIFF is read whatever tags say that are not about pixels, here and from a server', async (t) => {
  for (const [what, file, pixels] of read) {
    const bytes = writeTiff(file);
    const uri = await temporaryFile(t, 'a.tif', bytes);
    const server = await startServer((request, response) => sendFile({ bytes, etag: '"x"' }, request, response));
    t.after(() => server.close());
    for (const from of [uri, `${server.origin}/a.tif`]) {
      const image = await openImage(from);
      assert.deepEqual([image.width, image.height], [width, height], what);
      assert.deepEqual([...(await decodeOpen(image))], [...pixels], `${what}, from ${from}`);
      await image.close();
    }
    const peeked = await peekSize(uri);
    if (peeked) assert.deepEqual(peeked, { width, height, pixel: 'u8' }, what);
  }
});

const refused: [what: string, file: WrittenTiff, sentence: string | RegExp][] = [
  [
    'gray of three samples, as ImageJ writes composites',
    {
      width,
      height,
      blocks: [new Uint8Array(3 * gray.length)],
      tags: { SamplesPerPixel: [3], BitsPerSample: [8, 8, 8] },
    },
    'The TIFF has 3 bands that are not colours: choose with --band, 1 to 3 or all',
  ],
  [
    'no photometric interpretation',
    { ...inStrips, tags: { ...eight, PhotometricInterpretation: null } },
    'The TIFF has no tag 262 (PhotometricInterpretation), which says what its samples mean',
  ],
  [
    'no width',
    { ...inStrips, tags: { ImageWidth: null } },
    'The TIFF has no tag 256 (ImageWidth), which every image needs',
  ],
  [
    'no places of strips',
    { ...inStrips, tags: { ...eight, StripOffsets: null } },
    'The TIFF has no tag 273 (StripOffsets), which every image needs',
  ],
  [
    'too few strips',
    { ...inStrips, tags: { RowsPerStrip: [5] } },
    'The TIFF is damaged: 21x18 pixels in strips of 21x5 make 4 strips but it lists 3',
  ],
  [
    'too few lengths',
    { ...inStrips, tags: { ...eight, StripByteCounts: [168, 168] } },
    /its tag 279 \(StripByteCounts\) has 2 values where 3 are needed$/,
  ],
  [
    'a text for a width',
    { ...inStrips, tags: { ImageWidth: 'wide\0' } },
    'The TIFF is damaged: its tag 256 (ImageWidth) has no whole numbers (type 2)',
  ],
  [
    'a strip that is too short',
    { ...inStrips, tags: { ...eight, StripByteCounts: [168, 100, 42] } },
    'The TIFF is damaged: its strip 1 has 100 bytes where its pixels take 168',
  ],
  [
    'a strip without bytes',
    { ...inStrips, tags: { ...eight, StripByteCounts: [168, 0, 42] } },
    'The TIFF is damaged: its strip 1 is at byte 176 and has no bytes',
  ],
  [
    'a strip behind the end',
    { ...inStrips, tags: { ...eight, StripOffsets: [8, 70_000, 8] } },
    /^The TIFF is cut off or damaged: its strip 1 begins at byte 70000 and ends at byte 70168, and the file at byte \d+$/,
  ],
  [
    'a compressed strip that is damaged',
    {
      ...inStrips,
      blocks: [deflateSync(strips[0]!), deflateSync(strips[1]!).fill(0x55, 8, 20), deflateSync(strips[2]!)],
      tags: { ...eight, Compression: [8] },
    },
    'The TIFF data is damaged or cut off in strip 1',
  ],
  [
    'a compressed strip that has too few pixels',
    {
      ...inStrips,
      blocks: [deflateSync(strips[0]!), deflateSync(strips[2]!), deflateSync(strips[2]!)],
      tags: { ...eight, Compression: [8] },
    },
    'The TIFF data is damaged or cut off in strip 1',
  ],
  [
    'a palette that is too short',
    { ...inStrips, tags: { ...eight, PhotometricInterpretation: [3], ColorMap: [1, 2, 3] } },
    'The TIFF is damaged: its palette has 3 values (tag 320 (ColorMap)) where 768 are needed',
  ],
  [
    'tiles without a size',
    { ...inStrips, blocks: tiles, tags: { TileWidth: [0], TileLength: [16] } },
    'The TIFF is damaged: its tiles have 0x16 pixels',
  ],
];

for (const [what, file, message] of refused) {
  test(`a TIFF with ${what} is refused in words that name it`, async (t) => {
    const uri = await temporaryFile(t, 'a.tif', writeTiff(file));
    await assert.rejects(decodeWhole(uri), { name: 'InputError', stage: 'decode', message });
  });
}

test('a last strip that is a JPEG as high as the others is read as far as the image goes', async (t) => {
  const noisy = sharp(gray, { raw: { width, height, channels: 1 } }).toColourspace('b-w');
  const strip = await noisy.clone().extract({ left: 0, top: 0, width, height: 16 }).jpeg().toBuffer();
  const whole = await decodeWhole(await temporaryFile(t, 'a.jpg', strip));
  const tags = { Compression: [7], RowsPerStrip: [16] };
  const tiff = writeTiff({ width, height: 21, blocks: [strip, strip], tags });
  const pixels = await decodeWhole(await temporaryFile(t, 'a.tif', tiff));
  assert.deepEqual([...pixels], [...whole, ...whole.subarray(0, 5 * width)]);
});

test('directories in a circle end', async (t) => {
  const bytes = writeTiff({ ...inPage(), tags: { NewSubfileType: [1] } });
  const directory = bytes.readUInt32LE(4);
  bytes.writeUInt32LE(directory, directory + 2 + 12 * bytes.readUInt16LE(directory));
  assert.deepEqual([...(await decodeWhole(await temporaryFile(t, 'a.tif', bytes)))], [...gray]);
});

test('a strip of more pixels than are decoded at once is read in parts, as it is stored and as it is compressed', async (t) => {
  const [wide, high] = [8200, 8300];
  const packed = Buffer.alloc(high * (wide / 8));
  for (let y = 0; y < high; y++) packed.fill((y * 7) % 13 < 5 ? 255 : 0, y * (wide / 8), (y + 1) * (wide / 8));
  for (const [compression, bytes] of [
    [1, packed],
    [8, deflateSync(packed, { level: 1 })],
  ] as const) {
    const tiff = writeTiff({
      width: wide,
      height: high,
      blocks: [bytes],
      tags: { BitsPerSample: [1], Compression: [compression] },
    });
    const luma = await decodeWhole(await temporaryFile(t, 'lines.tif', tiff));
    for (let y = 0; y < high; y++) {
      assert.equal(luma[y * wide], (y * 7) % 13 < 5 ? 255 : 0, `row ${y}`);
      assert.equal(luma[(y + 1) * wide - 1], (y * 7) % 13 < 5 ? 255 : 0, `row ${y}`);
    }
  }
});
