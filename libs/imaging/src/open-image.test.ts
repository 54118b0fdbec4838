import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { deflateSync } from 'node:zlib';
import type { Rect } from '@halogrid/geometry';
import { temporaryFile, temporaryFolder } from '@halogrid/sources/testing-files';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import sharp from 'sharp';
import { openImage } from './open-image.ts';
import type { OpenImage } from './planes/image.ts';
import { asPixels, type PlaneTarget } from './planes/plane-target.ts';
import {
  assertPlanes,
  type Channels,
  decodeOpen,
  decodeWhole,
  expectedFixtures,
  fixtureBytes,
  fixtureUri,
  type Gaps,
  lumaOf,
  oneBitPng,
  planes,
  sha256,
} from './testing/images.ts';

const oracle = new URL('../../kernels/oracle/', import.meta.url);

test('every fixture decodes to the luma and the colours that other programs decode', async () => {
  for (const [name, expected] of Object.entries(expectedFixtures)) {
    const image = await openImage(fixtureUri(name));
    assert.deepEqual([image.width, image.height], [expected.width, expected.height], name);
    assert.equal(sha256(await decodeOpen(image)), expected.sha256, name);
    assert.equal(sha256(await decodeOpen(image, 'rgb')), expected.rgbSha256, name);
    assert.ok(image.inputBytes > 0, name);
    await image.close();
  }
});

test('luma follows from the colours, except in a JPEG, which has a Y plane', async () => {
  for (const [name, { width, height }] of Object.entries(expectedFixtures)) {
    if (name.endsWith('.jpg')) continue;
    const pixels = width * height;
    const type = name.startsWith('deep') ? 'u16' : 'u8';
    const rgb = asPixels(await decodeWhole(fixtureUri(name), 'rgb'), type);
    const luma = asPixels(await decodeWhole(fixtureUri(name)), type);
    for (let i = 0; i < pixels; i++) {
      assert.equal(luma[i], lumaOf(rgb[i]!, rgb[pixels + i]!, rgb[2 * pixels + i]!), name);
    }
  }
});

test('the luma of every oracle image has the oracle’s SHA-256', async () => {
  const files = readdirSync(new URL('expected/', oracle));
  assert.ok(files.length > 0);
  for (const file of files) {
    const { image, gray } = JSON.parse(readFileSync(new URL(`expected/${file}`, oracle), 'utf8'));
    assert.equal(sha256(await decodeWhole(new URL(`images/${image}`, oracle).href)), gray.sha256, image);
  }
});

test('the format is told by content, not by name', async (t) => {
  const uri = await temporaryFile(t, 'really-a.png', fixtureBytes('420.jpg'));
  assert.equal(sha256(await decodeWhole(uri)), expectedFixtures['420.jpg']!.sha256);
});

test('names that libvips or URIs take for something else are read', async (t) => {
  for (const name of ['a b#c?d%20e.png', 'image.png[page=1]', 'größe.png', 'a:b|c.png', '-.png', '[1].png']) {
    const uri = await temporaryFile(t, name, fixtureBytes('gray.png'));
    assert.equal(sha256(await decodeWhole(uri)), expectedFixtures['gray.png']!.sha256, name);
  }
});

const refused: [name: string, reason: RegExp][] = [
  ['cmyk.jpg', /^A JPEG in CMYK has no defined luma: /],
  ['bomb.png', /^60000x60000 is 3600000000 pixels, more than a file of 65 bytes can hold$/],
  ['float.tif', /^32-bit floating-point samples need --scale MIN,MAX: /],
  ['signed.tif', /^\d+-bit signed samples need --scale MIN,MAX: /],
  ['raw.dng', /^DNG is not supported: /],
  ['cmyk.tif', /^A TIFF in CMYK has no defined luma: /],
  ['lab.tif', /^A TIFF in CIELab has no defined luma: /],
  [
    'animated.gif',
    /^A GIF with 2 frames is not read, only one with a single frame: --page N reads one, and ffmpeg -i IN.gif /,
  ],
  ['ten-bit.avif', /^An AVIF with 10 or 12 bits a sample is not supported: one with 8 bits is$/],
];

for (const [name, message] of refused) {
  test(`${name} is refused: ${message.source}`, async () => {
    await assert.rejects(openImage(fixtureUri(name)), { name: 'InputError', stage: 'decode', message });
  });
}

test('a file without bytes and a text named .png are refused', async (t) => {
  await assert.rejects(openImage(await temporaryFile(t, 'zero.jpg', '')), {
    stage: 'decode',
    message: 'The file is empty (0 bytes)',
  });
  await assert.rejects(openImage(await temporaryFile(t, 'text.png', 'hello, world\n')), {
    stage: 'decode',
    message: 'Not an image: the file starts with the text "hello, world\\n"',
  });
});

test('an image that is cut off anywhere is refused, or decodes to every pixel', async (t) => {
  const names = ['420.jpg', 'progressive.jpg', 'gray.png', 'interlaced.png', 'lossless.webp', 'lossy.webp'];
  names.push('image.gif', '444.avif', 'image.bmp', 'rle8.bmp');
  names.push('strips.tif', 'planar.tif', 'tiled-gray-none.tif', 'tiled-rgb-lzw.tif', 'tiled-rgb-jpeg.tif');
  for (const name of names) {
    const bytes = fixtureBytes(name);
    let refusals = 0;
    for (const part of [0.001, 0.02, 0.3, 0.6, 0.9, 0.97, 0.999]) {
      const uri = await temporaryFile(t, name, bytes.subarray(0, Math.ceil(bytes.length * part)));
      try {
        assert.equal(sha256(await decodeWhole(uri)), expectedFixtures[name]!.sha256, `${name} cut at ${part}`);
      } catch (error) {
        assert.equal((error as Error).name, 'InputError', `${name} cut at ${part}: ${error}`);
        assert.match((error as Error).message, /^[A-Z][^\n]+[^.\n]$/);
        refusals++;
      }
    }
    // All are refused, except a PNG that lacks no more than its end chunk.
    assert.ok(refusals >= 6, `${name}: ${refusals}`);
  }
});

test('a tiled TIFF with a tile that cannot be decoded is refused, whatever its directory says', async (t) => {
  const zeros = Buffer.alloc(32 * 16);
  const good = twoTileTiff(8, [deflateSync(zeros.subarray(0, 256)), deflateSync(zeros.subarray(0, 256))]);
  assert.deepEqual(await decodeWhole(await temporaryFile(t, 'good.tif', good)), new Uint8Array(zeros));
  const damaged = Buffer.alloc(20, 255);
  const bad: [string, Buffer, RegExp][] = [
    [
      'damaged.tif',
      twoTileTiff(8, [deflateSync(zeros.subarray(0, 256)), damaged]),
      /^The TIFF data is damaged or cut off in tile 1$/,
    ],
    [
      'cut.tif',
      twoTileTiff(1, [zeros.subarray(0, 256), zeros.subarray(0, 256)]).subarray(0, -9),
      /^The TIFF is cut off or damaged: its tile 1 begins at byte \d+ and ends at byte \d+, and the file at byte \d+$/,
    ],
    ['unknown.tif', twoTileTiff(12345, [zeros, zeros]), /^A TIFF compressed as 12345 is not supported: /],
    ['zstd.tif', twoTileTiff(50000, [zeros, zeros]), /^The TIFF data is damaged or cut off in tile 0$/],
  ];
  for (const [name, bytes, message] of bad) {
    const uri = await temporaryFile(t, name, bytes);
    await assert.rejects(decodeWhole(uri), { name: 'InputError', stage: 'decode', message }, name);
  }
});

/** A gray image of 32 x 16 pixels in two tiles, its directory in front. */
function twoTileTiff(compression: number, tiles: [Uint8Array, Uint8Array]): Buffer {
  const [short, long] = [3, 4];
  const entries = 10;
  const dataAt = 8 + 2 + entries * 12 + 4;
  const tilesAt = dataAt + 16;
  const head = Buffer.alloc(tilesAt);
  head.write('II*\0\x08', 'latin1');
  head.writeUInt16LE(entries, 8);
  const fields = [
    [256, long, 1, 32],
    [257, long, 1, 16],
    [258, short, 1, 8],
    [259, short, 1, compression],
    [262, short, 1, 1],
    [277, short, 1, 1],
    [322, long, 1, 16],
    [323, long, 1, 16],
    [324, long, 2, dataAt],
    [325, long, 2, dataAt + 8],
  ] as const;
  for (const [i, [tag, type, count, value]] of fields.entries()) {
    const at = 10 + 12 * i;
    head.writeUInt16LE(tag, at);
    head.writeUInt16LE(type, at + 2);
    head.writeUInt32LE(count, at + 4);
    head.writeUInt32LE(value, at + 8);
  }
  head.writeUInt32LE(tilesAt, dataAt);
  head.writeUInt32LE(tilesAt + tiles[0].length, dataAt + 4);
  head.writeUInt32LE(tiles[0].length, dataAt + 8);
  head.writeUInt32LE(tiles[1].length, dataAt + 12);
  return Buffer.concat([head, ...tiles]);
}

test('what is said of a damaged image does not depend on what is decoded beside it', async (t) => {
  const names = ['gray.png', 'rgb.png', 'interlaced.png', 'tiled-rgb-deflate.tif', 'deep-tiles.tif'];
  const uris = await Promise.all(
    names.map((name) => {
      const bytes = fixtureBytes(name);
      return temporaryFile(t, name, bytes.fill(0, Math.floor(bytes.length * 0.4), Math.floor(bytes.length * 0.5)));
    }),
  );
  const complaint = (uri: string) => decodeWhole(uri).catch((error: Error) => error.message);
  const alone: unknown[] = [];
  for (const uri of uris) alone.push(await complaint(uri));
  assert.ok(alone.every((sentence) => typeof sentence === 'string'));
  for (let i = 0; i < 30; i++) assert.deepEqual(await Promise.all(uris.map(complaint)), alone);
});

test('an image that is decoded whole may have as many pixels as are allowed and no more', async () => {
  const { width, height } = expectedFixtures['gray.png']!;
  for (const name of ['gray.png', 'strips.tif', 'lossless.webp', '420.jpg']) {
    await decodeWhole(fixtureUri(name), 'gray', { maxWholePixels: width * height });
    const tooMany = decodeWhole(fixtureUri(name), 'gray', { maxWholePixels: width * height - 1 });
    await assert.rejects(tooMany, { stage: 'decode', message: /^97x61 is 5917 pixels, more than the 5916 / });
  }
  await decodeWhole(fixtureUri('tiled-gray-none.tif'), 'gray', { maxWholePixels: 1 });
});

test('an image too large to be decoded whole is copied to one that is read by region, pixel for pixel', async (t) => {
  const folder = await temporaryFolder(t);
  const names = Object.keys(expectedFixtures).filter(
    (name) => /\.(png|tif)$/.test(name) && !/tile|interlaced/.test(name),
  );
  assert.ok(names.length > 10);
  for (const name of names) {
    for (const channels of ['gray', 'rgb'] as const) {
      const image = await openImage(fixtureUri(name), { maxWholePixels: 1 });
      const path = join(folder, `${name}-${channels}`);
      await image.copy!.write(path, channels);
      await image.close();
      const copy = await openImage(pathToFileURL(path).href, { maxWholePixels: 1 });
      assert.deepEqual([copy.readsRegions, copy.pixel], [true, image.pixel], name);
      const { sha256: gray, rgbSha256 } = expectedFixtures[name]!;
      assert.equal(sha256(await decodeOpen(copy, channels)), channels === 'gray' ? gray : rgbSha256, name);
      await copy.close();
    }
  }
  for (const name of ['interlaced.png', 'progressive.jpg']) {
    await assert.rejects(openImage(fixtureUri(name), { maxWholePixels: 1 }), { stage: 'decode' });
  }
});

test('a JPEG too large to be decoded whole is copied band by band, the same as if it were decoded whole', async (t) => {
  const folder = await temporaryFolder(t);
  const large = join(folder, 'large.jpg');
  const [width, height] = [820, 830];
  const noise = Uint8Array.from({ length: 300 * 300 * 3 }, (_, i) => Math.imul(i, 0x9e3779b1) >>> 24);
  const tile = await sharp(noise, { raw: { width: 300, height: 300, channels: 3 } })
    .blur(2)
    .png()
    .toBuffer();
  await sharp({ create: { width, height, channels: 3, background: 'black' } })
    .composite([{ input: tile, tile: true }])
    .jpeg({ quality: 60, chromaSubsampling: '4:2:0' })
    .toFile(large);
  const fixtures = Object.keys(expectedFixtures).filter((name) => /\.jpg$/.test(name) && name !== 'progressive.jpg');
  assert.ok(fixtures.length > 7);
  // Smooth chroma is upsampled across bands: each row is one, all rows are, or the last one has few.
  const cases: [uri: string, maxWholePixels: number][] = [
    ...fixtures.map((name): [string, number] => [fixtureUri(name), 1]),
    [pathToFileURL(large).href, width * height - 1],
    [pathToFileURL(large).href, 97 * width],
  ];
  for (const [uri, maxWholePixels] of cases) {
    for (const channels of ['gray', 'rgb'] as const) {
      const image = await openImage(uri, { maxWholePixels });
      if (!image.copy) {
        assert.equal(image.width * image.height, 1);
        continue;
      }
      const path = join(folder, `copy-${channels}`);
      await rm(path, { force: true });
      await image.copy.write(path, channels);
      await image.close();
      const header = `P0\n${image.width} ${image.height}\n255\n`.length;
      assert.equal((await stat(path)).size, header + image.copy.bytes(channels));
      const copy = await openImage(pathToFileURL(path).href, { maxWholePixels: 1 });
      assert.equal(copy.readsRegions, true);
      assert.equal(sha256(await decodeOpen(copy, channels)), sha256(await decodeWhole(uri, channels)), uri);
      await copy.close();
    }
  }
});

test('a JPEG that claims more than it can hold is refused, and a JPEG that is cut off is refused while it is copied', async (t) => {
  const bytes = fixtureBytes('420.jpg');
  const claiming = Buffer.from(bytes);
  const frame = claiming.indexOf(Buffer.from([0xff, 0xc0]));
  claiming.writeUInt16BE(65_000, frame + 5);
  claiming.writeUInt16BE(65_000, frame + 7);
  await assert.rejects(openImage(await temporaryFile(t, 'claiming.jpg', claiming)), {
    stage: 'decode',
    message: /^65000x65000 is 4225000000 pixels, more than a file of \d+ bytes can hold$/,
  });
  const cut = await openImage(await temporaryFile(t, 'cut.jpg', bytes.subarray(0, 3000)), { maxWholePixels: 1000 });
  const path = join(await temporaryFolder(t), 'copy');
  await assert.rejects(cut.copy!.write(path, 'gray'), { name: 'InputError', message: /cut off/ });
  await cut.close();
});

test('an image that is damaged is refused while it is copied', async (t) => {
  for (const name of ['rgb.png', 'strips.tif']) {
    const bytes = fixtureBytes(name);
    bytes.fill(0, 3000, 4000);
    const uri = await temporaryFile(t, name, bytes);
    const image = await openImage(uri, { maxWholePixels: 1 });
    const path = join(await temporaryFolder(t), 'copy.tif');
    await assert.rejects(image.copy!.write(path, 'gray'), { name: 'InputError', message: /damaged or cut off/ }, name);
    await image.close();
  }
});

test('a copy that cannot be written is not the image’s fault', async (t) => {
  const image = await openImage(fixtureUri('rgb.png'), { maxWholePixels: 1 });
  const path = join(await temporaryFolder(t), 'no', 'such', 'folder.tif');
  await assert.rejects(image.copy!.write(path, 'gray'), ({ name }: Error) => name !== 'InputError');
  await image.close();
});

test('an image of more pixels than are decoded at once', async (t) => {
  const [width, height] = [8200, 8300];
  const white = (y: number) => (y * 7) % 13 < 5;
  const rows = Buffer.alloc(height * (1 + width / 8));
  for (let y = 0; y < height; y++) rows.fill(white(y) ? 255 : 0, y * 1026 + 1, (y + 1) * 1026);
  const luma = await decodeWhole(await temporaryFile(t, 'lines.png', oneBitPng(width, height, rows)));
  for (let y = 0; y < height; y++) {
    assert.equal(luma[y * width], white(y) ? 255 : 0, `row ${y}`);
    assert.equal(luma[(y + 1) * width - 1], white(y) ? 255 : 0, `row ${y}`);
  }
});

test('an image that is closed too early still decodes its own bytes', async () => {
  const { width, height, sha256: expected } = expectedFixtures['420.jpg']!;
  const decodes = Array.from({ length: 50 }, async () => {
    const image = await openImage(fixtureUri('420.jpg'));
    const target = planes(width, height, 'gray');
    const decoded = image.decode({ x: 0, y: 0, width, height }, target);
    // Opening the next would take over the memory.
    await Promise.all([image.close(), openImage(fixtureUri('gray.jpg')).then((next) => next.close())]);
    await decoded;
    assert.equal(sha256(target.bytes), expected);
  });
  await Promise.all(decodes);
});

test('another scheme and a broken URI are refused', async () => {
  await assert.rejects(openImage('ftp://host/key.jpg'), {
    stage: 'read',
    message: "'ftp://host/key.jpg' is not supported: file:, http:, https:, s3:, gs: and az: URIs are",
  });
  await assert.rejects(openImage('file:///%zz'), { stage: 'read' });
  await assert.rejects(openImage('file:///a%00b'), { stage: 'read', message: 'The path holds a null byte' });
});

const tiled = Object.keys(expectedFixtures).filter((name) => /^(tiled|deep-tiles|deep\.ppm)/.test(name));
/** 16-bit pixels lie at even addresses. */
const evenGap = fc.nat(4).map((half) => 2 * half);
const open = new Map<string, { image: OpenImage; whole: Record<Channels, Uint8Array> }>();
after(() => Promise.all([...open.values()].map(({ image }) => image.close())));

test('any region of a tiled TIFF is the same as in the whole image', async () => {
  for (const name of tiled) {
    const image = await openImage(fixtureUri(name));
    assert.ok(image.readsRegions, name);
    open.set(name, { image, whole: { gray: await decodeOpen(image), rgb: await decodeOpen(image, 'rgb') } });
  }
  const pick = fc.record({
    name: fc.constantFrom(...tiled),
    corners: fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 4, maxLength: 4 }),
    channels: fc.constantFrom<Channels>('gray', 'rgb'),
    gaps: fc.record({ before: evenGap, padding: evenGap, between: evenGap }),
  });
  const property = fc.asyncProperty(pick, async ({ name, corners, channels, gaps }) => {
    const { image, whole } = open.get(name)!;
    await expectRegion(image, whole[channels], regionAt(image, corners), channels, gaps);
  });
  await fc.assert(property, { numRuns: repeated(40, 400) });
});

function regionAt({ width, height }: OpenImage, corners: number[]): Rect {
  const [x0, x1] = [corners[0]! * width, corners[1]! * width].map(Math.floor).sort((a, b) => a - b) as [number, number];
  const [y0, y1] = [corners[2]! * height, corners[3]! * height].map(Math.floor).sort((a, b) => a - b) as [
    number,
    number,
  ];
  return { x: x0, y: y0, width: x1 - x0 + 1, height: y1 - y0 + 1 };
}

/** Decodes `region` somewhere inside a target, where nothing else may change. */
async function expectRegion(image: OpenImage, whole: Uint8Array, region: Rect, channels: Channels, gaps: Gaps) {
  const target = planes(region.width, region.height, channels, gaps, image.pixel);
  await image.decode(region, target);
  const pixels = asPixels(whole, image.pixel);
  const pixel = (plane: number, x: number, y: number) =>
    pixels[(plane * image.height + region.y + y) * image.width + region.x + x]!;
  assertPlanes(target, region.width, region.height, pixel, JSON.stringify(region), image.pixel);
}

test('a target for 16-bit pixels at odd addresses is the caller’s mistake', async () => {
  const image = await openImage(fixtureUri('deep-gray.png'));
  const { width, height } = image;
  const whole = { x: 0, y: 0, width, height };
  const good = planes(width, height, 'rgb', { before: 2, padding: 2, between: 2 }, 'u16');
  for (const wrong of [{ offset: 1 }, { stride: good.stride - 1 }, { planeBytes: good.planeBytes - 1 }]) {
    await assert.rejects(image.decode(whole, { ...good, ...wrong }), { name: 'RangeError', message: /even addresses/ });
  }
  await image.decode(whole, good);
  await image.close();
});

test('a region or a target that does not fit is the caller’s mistake', async () => {
  for (const name of ['tiled-gray-none.tif', 'gray.png', '420.jpg']) {
    const image = await openImage(fixtureUri(name));
    const { width, height } = image;
    const whole = { x: 0, y: 0, width, height };
    const gray = planes(width, height, 'gray');
    const rgb = planes(width, height, 'rgb');
    const wrong: [Rect, PlaneTarget][] = [
      [{ ...whole, x: -1 }, gray],
      [{ ...whole, y: 1 }, gray],
      [{ x: 0, y: 0, width: 0, height: 1 }, gray],
      [whole, { ...gray, bytes: gray.bytes.subarray(1) }],
      [whole, { ...gray, offset: 1 }],
      [whole, { ...gray, stride: width - 1 }],
      [whole, { ...gray, channels: 'rgb' }],
      [whole, { ...rgb, bytes: rgb.bytes.subarray(1) }],
      [whole, { ...rgb, offset: 1 }],
      [whole, { ...rgb, planeBytes: width * height - 1 }],
      [whole, { ...rgb, planeBytes: width * height + 1 }],
      [whole, { ...rgb, planeBytes: Number.NaN }],
    ];
    for (const [region, target] of wrong) {
      await assert.rejects(image.decode(region, target), { name: 'RangeError', message: /^Expected .+ but received / });
    }
    await image.decode(whole, { ...gray, planeBytes: 0 });
    const part = image.decode({ x: 0, y: 0, width: 2, height: 2 }, planes(2, 2, 'gray'));
    if (image.readsRegions) await part;
    else await assert.rejects(part, RangeError);
    await image.close();
  }
});
