import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { ReadOptions } from '@halogrid/imaging';
import { loadSharp } from '@halogrid/imaging/sharp';
import { type WrittenTiff, writeTiff } from '@halogrid/imaging/testing-tiffs';
import { temporaryFile } from '@halogrid/sources/testing-files';
import sharp from 'sharp';
import { temporaryFolder } from '../testing/maps.ts';
import { LastDecoded } from './last-decoded.ts';
import { readsParts, regionPicture } from './region-picture.ts';
import { thumbnail } from './thumbnails.ts';

// Worth its milliseconds: a picture of other pixels than those that were computed misleads the reader of results.

/** A tile of 16 x 16 pixels in float32: sample b of pixel (x, y) is 1000 b + 10 y + x + `plus`. */
function floats(width: number, height: number, bands: number, plus: number): WrittenTiff {
  const samples = Float32Array.from({ length: 256 * bands }, (_, i) => {
    const pixel = Math.floor(i / bands);
    return 1000 * (i % bands) + 10 * Math.floor(pixel / 16) + (pixel % 16) + plus;
  });
  const tags = {
    ...{ TileWidth: [16], TileLength: [16], SamplesPerPixel: [bands] },
    ...{ BitsPerSample: Array(bands).fill(32), SampleFormat: Array(bands).fill(3) },
  };
  return { width, height, blocks: [new Uint8Array(samples.buffer)], tags };
}

/** Red, green and blue of each pixel of a PNG. */
async function coloursOf(png: Uint8Array): Promise<number[][]> {
  const sharp = await loadSharp();
  const raw = await sharp(png).toColourspace('srgb').raw().toBuffer();
  return Array.from({ length: raw.length / 3 }, (_, i) => [...raw.subarray(3 * i, 3 * i + 3)]);
}

test('pictures show the bands, the scale and the level that a job reads, at the places of that level', async (t) => {
  const pyramid = { ...floats(12, 8, 4, 0), pages: [floats(6, 4, 4, 100)] };
  const uri = await temporaryFile(t, 'scene.tif', writeTiff(pyramid));
  // Samples of band 3 become 0 to 255 by the first scale, samples of all bands by the second.
  const third = { min: 2000, max: 2255, bits: 8 };
  const all = { min: 0, max: 4080, bits: 8 };
  const byAll = (value: number) => Math.floor(value / 16 + 0.5);
  const gray = (value: number) => [value, value, value];
  const cases: [what: string, read: ReadOptions, colour: (x: number, y: number) => number[], plus: number][] = [
    ['one band', { band: { numbers: [3] }, scale: third }, (x, y) => gray(10 * y + x), 0],
    ['deep', { band: { numbers: [3] }, scale: { ...third, bits: 16 } }, (x, y) => gray(10 * y + x), 0],
    ['a level', { band: { numbers: [3] }, scale: third, level: { number: 1 } }, (x, y) => gray(10 * y + x + 100), 100],
    [
      'three bands',
      { band: { numbers: [4, 1, 2] }, scale: all },
      (x, y) => [3000, 0, 1000].map((band) => byAll(band + 10 * y + x)),
      0,
    ],
    ['two bands', { band: { numbers: [2, 3] }, scale: all }, (x, y) => gray(byAll(1000 + 10 * y + x)), 0],
    ['all', { band: { numbers: [1, 2, 3, 4], all: true }, scale: all }, (x, y) => gray(byAll(10 * y + x)), 0],
  ];
  for (const [what, read, colour, plus] of cases) {
    const size = plus > 0 ? { width: 6, height: 4 } : { width: 12, height: 8 };
    const expected = (x0: number, y0: number, width: number, height: number) =>
      Array.from({ length: width * height }, (_, i) => colour(x0 + (i % width), y0 + Math.floor(i / width)));
    const whole = await thumbnail({ uri, read }, { width: 64, height: 64 });
    assert.deepEqual(whole.of, size, what);
    assert.deepEqual(await coloursOf(whole.png), expected(0, 0, size.width, size.height), what);
    const part = await regionPicture({ uri, read }, { x: 2, y: 1, width: 3, height: 64 }, 64);
    assert.deepEqual(await coloursOf(part.png), expected(2, 1, 3, size.height - 1), what);
    assert.equal(await readsParts({ uri, read }), true, what);
  }
  const refused: [read: ReadOptions, message: RegExp][] = [
    [{}, /^32-bit floating-point samples need --scale MIN,MAX: /],
    [{ band: { numbers: [5] }, scale: all }, /^The job reads band 5 \(--band\), and the TIFF has 4 bands$/],
    [{ level: { number: 2 }, scale: all }, /^The TIFF has the levels 0 \(12x8\), 1 \(6x4\) but the job asks for 2$/],
  ];
  for (const [read, message] of refused) {
    await assert.rejects(thumbnail({ uri, read }, { width: 64, height: 64 }), { name: 'InputError', message });
    await assert.rejects(readsParts({ uri, read }), { name: 'InputError', message });
  }
});

// The viewer zooms into a source by pictures of its parts. An image that is decoded whole is decoded once for them.

test('of one image, pixels are decoded once for all who ask, and again after a failure or another image', async () => {
  const last = new LastDecoded<Uint8Array>();
  const decoded: string[] = [];
  const ask = (key: string, fails = false): Promise<Uint8Array> =>
    last.get(key, async () => {
      decoded.push(key);
      if (fails) throw new Error('unreadable');
      return Buffer.from(key);
    });
  const all = await Promise.all([ask('a'), ask('a'), ask('a')]);
  assert.deepEqual(all.map(String), ['a', 'a', 'a']);
  assert.equal(String(await ask('b')), 'b');
  await assert.rejects(Promise.all([ask('c', true), ask('c')]), /unreadable/);
  assert.equal(String(await ask('c')), 'c');
  assert.equal(String(await ask('a')), 'a');
  assert.deepEqual(decoded, ['a', 'b', 'c', 'c', 'a']);
});

test('parts of an image, and of the one that replaced its file, are cut from its own pixels', async (t) => {
  const path = join(await temporaryFolder(t), 'a.png');
  const { href } = pathToFileURL(path);
  for (const [width, height, seed] of [
    [40, 30, 1],
    [50, 20, 2],
  ] as const) {
    const pixels = Uint8Array.from({ length: 3 * width * height }, (_, i) => (i * seed * 7) % 251);
    const image = sharp(pixels, { raw: { width, height, channels: 3 } });
    await image.png().toFile(path);
    const parts = [
      { x: 0, y: 0, width: 16, height: 16 },
      { x: 16, y: 4, width: 30, height: 16 },
    ];
    const pictures = await Promise.all(parts.map((part) => regionPicture({ uri: href }, part, 64)));
    for (const [i, { x, y, ...size }] of parts.entries()) {
      const part = { left: x, top: y, width: Math.min(size.width, width - x), height: size.height };
      const [shown, wanted] = [sharp(pictures[i]!.png), image.clone().extract(part)];
      assert.deepEqual(await shown.removeAlpha().raw().toBuffer(), await wanted.raw().toBuffer());
    }
  }
});
