import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { InputError } from '@halogrid/sources';
import { temporaryFile, temporaryFolder } from '@halogrid/sources/testing-files';
import { askPython, pythonFails, repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { openImage } from '../../open-image.ts';
import type { AskedLevel } from '../../planes/read-options.ts';
import { decodeWhole, fixtureUri } from '../../testing/images.ts';
import { describedMicrons } from './pixel-size.ts';
import { chooseLevel, type PyramidPage, pyramidLevels } from './pyramid-levels.ts';
import { type WrittenTiff, writeTiff } from './testing/write-tiff.ts';

// Worth its seconds: other programs make slides once for the whole file, and OpenSlide's own pixels of each level are
// compared; the rules themselves are pure.

const lacksVips = spawnSync('vips', ['--version']).status !== 0 && 'libvips is not installed (libvips-tools)';
const skip = lacksVips || pythonFails("import tifffile, ctypes; ctypes.CDLL('libopenslide.so.0')");

test('each level of slides has the pixels that OpenSlide reads, and is found by micrometres', { skip }, async (t) => {
  const folder = await temporaryFolder(t);
  const program = fileURLToPath(new URL('testing/make-slides.py', import.meta.url));
  const slides = JSON.parse(askPython(program, [folder])) as {
    file: string;
    levels: [width: number, height: number, expected: string][];
  }[];
  assert.deepEqual(
    slides.map(({ levels }) => levels.length),
    [3, 4, 3],
  );
  for (const { file, levels } of slides) {
    const uri = pathToFileURL(file).href;
    for (const [number, [width, height, expected]] of levels.entries()) {
      const planes = await decodeWhole(uri, 'rgb', { level: { number } });
      assert.deepEqual(planes, planesOf(readFileSync(expected), width * height), `level ${number} of ${file}`);
    }
    assert.deepEqual(await decodeWhole(uri, 'rgb'), await decodeWhole(uri, 'rgb', { level: { number: 0 } }));
    await assert.rejects(openImage(uri, { level: { number: levels.length } }), {
      name: 'InputError',
      message: /^The TIFF has the levels 0 \(801x600\), 1 \(40[01]x300\), .* but the job asks for [34]$/,
    });
  }
  const widthAt = async (slide: number, microns: number): Promise<number> => {
    const image = await openImage(pathToFileURL(slides[slide]!.file).href, { level: { microns } });
    await image.close();
    return image.width;
  };
  // Pixels of 0.2525 micrometres (MPP of Aperio), 10 (XResolution a centimetre) and 0.5 (PhysicalSizeX in nanometres).
  assert.deepEqual([await widthAt(0, 0.25), await widthAt(0, 0.5), await widthAt(0, 0.9)], [801, 401, 401]);
  assert.deepEqual([await widthAt(1, 10), await widthAt(1, 1000)], [801, 100]);
  assert.deepEqual([await widthAt(2, 1), await widthAt(2, 1.8), await widthAt(2, 2)], [401, 401, 201]);
  await assert.rejects(widthAt(2, 0.1), {
    message: 'A pixel of the TIFF is 0.5 micrometres wide but the job asks for at most 0.1',
  });
});

/** Colours pixel by pixel as planes one after another. */
const planesOf = (pixels: Uint8Array, count: number): Uint8Array =>
  Uint8Array.from({ length: 3 * count }, (_, i) => pixels[3 * (i % count) + Math.floor(i / count)]!);

const storage = { bitsPerSample: [8], sampleFormat: [1], samplesPerPixel: 1 };
const pageOf = (width: number, height: number, more: Partial<PyramidPage> = {}): PyramidPage => ({
  ...{ width, height, isTile: true, isReduced: false, isMask: false, storage },
  ...more,
});

test('levels are the pages that show all of the image', () => {
  const first = pageOf(46000, 32914);
  const table: [what: string, page: PyramidPage, isLevel: boolean][] = [
    ['a quarter, rounded down', pageOf(11500, 8228), true],
    ['a thumbnail in strips', pageOf(1024, 732, { isTile: false }), false],
    ['one that says that it is reduced', pageOf(1024, 732, { isTile: false, isReduced: true }), false],
    ['a label', pageOf(387, 463), false],
    ['a mask', pageOf(11500, 8228, { isMask: true }), false],
    ['another focus', pageOf(46000, 32914), false],
    ['a larger page', pageOf(92000, 65828), false],
    ['other samples', pageOf(11500, 8228, { storage: { ...storage, samplesPerPixel: 3 } }), false],
  ];
  for (const [what, page, isLevel] of table) {
    assert.equal(pyramidLevels(first, [page]).length, isLevel ? 2 : 1, what);
  }
  const strips = pageOf(46000, 32914, { isTile: false });
  assert.equal(pyramidLevels(strips, [pageOf(11500, 8228, { isTile: false })]).length, 1);
  assert.equal(pyramidLevels(strips, [pageOf(11500, 8228, { isTile: false, isReduced: true })]).length, 2);
});

test('each halving is a level, rounded up or down, and the coarsest that is fine enough is chosen', () => {
  const side = fc.integer({ min: 64, max: 2 ** 20 });
  const property = fc.property(
    side,
    side,
    fc.constantFrom(Math.floor, Math.ceil),
    fc.double({ min: 1, max: 64, noNaN: true }),
    (width, height, round, asked) => {
      const first = pageOf(width, height);
      const smaller = [2, 4, 8, 16, 32].map((by) => pageOf(round(width / by), round(height / by)));
      const levels = pyramidLevels(first, smaller);
      assert.equal(levels.length, 6);
      const chosen = chooseLevel(levels, { microns: asked }, 1);
      assert.ok(typeof chosen === 'number');
      const micronsOf = (level: number): number => width / levels[level]!.width;
      assert.ok(micronsOf(chosen) <= 1.05 * asked);
      assert.ok(chosen === 5 || micronsOf(chosen + 1) > 1.05 * asked);
    },
  );
  fc.assert(property);
});

test('descriptions state the size of a pixel', () => {
  const table: [text: string, microns: number | undefined][] = [
    ['Aperio Image Library v12.0.15\r\n46000x32914 (256x256) JPEG/RGB Q=30|AppMag = 20|MPP = 0.4990', 0.499],
    ['|MPP = 0.4990', undefined],
    ['<OME><Pixels PhysicalSizeX="0.25" PhysicalSizeXUnit="\u00b5m"/></OME>', 0.25],
    ['<OME><Pixels PhysicalSizeX="0.25" PhysicalSizeXUnit="&#181;m"/></OME>', 0.25],
    ['<OME xmlns="x"><Pixels PhysicalSizeX="250" PhysicalSizeXUnit="nm"/></OME>', 0.25],
    ['<OME><Pixels PhysicalSizeX="0.25"/></OME>', 0.25],
    ['<OME><Pixels PhysicalSizeX="1" PhysicalSizeXUnit="parsec"/></OME>', undefined],
    ['a photograph', undefined],
  ];
  for (const [text, microns] of table) assert.equal(describedMicrons(text), microns, text);
});

const half: WrittenTiff = {
  ...{ width: 8, height: 6, blocks: [new Uint8Array(256).fill(2)] },
  tags: { TileWidth: [16], TileLength: [16], NewSubfileType: [1] },
};
const pyramid: WrittenTiff = {
  ...{ width: 16, height: 12, blocks: [new Uint8Array(256).fill(1)] },
  tags: { TileWidth: [16], TileLength: [16] },
  pages: [half],
};

test('a level that is not there is refused with those that are', async (t) => {
  const refused = async (uri: string, level: AskedLevel, message: string): Promise<void> => {
    await assert.rejects(openImage(uri, { level }), { name: 'InputError', stage: 'decode', message });
  };
  const uri = await temporaryFile(t, 'a.tif', writeTiff(pyramid));
  assert.deepEqual([...(await decodeWhole(uri, 'gray', { level: { number: 1 } }))], new Array(48).fill(2));
  const levels = '0 (16x12), 1 (8x6)';
  await refused(uri, { number: 2 }, `The TIFF has the levels ${levels} but the job asks for 2`);
  await refused(
    uri,
    { microns: 1 },
    `The TIFF does not state the size of a pixel, so its level must be named by number: ${levels}`,
  );
  const single = await temporaryFile(t, 'b.tif', writeTiff({ ...pyramid, pages: [] }));
  await refused(single, { number: 1 }, 'The TIFF has only level 0 (16x12) but the job asks for 1');
  await refused(fixtureUri('gray.jpg'), { number: 1 }, 'A JPEG has no levels but the job asks for level 1');
});

test('a pyramid with damaged directories is read or refused in one sentence', async (t) => {
  const folder = await temporaryFolder(t);
  const path = join(folder, 'a.tif');
  const sound = writeTiff({ ...pyramid, tags: { ...pyramid.tags, SubIFDs: [700, 800], XResolution: [100] } });
  const change = fc.record({ at: fc.nat(sound.length - 1), value: fc.nat(255) });
  const asked = fc.constantFrom<AskedLevel>({ number: 0 }, { number: 1 }, { microns: 200 });
  const property = fc.asyncProperty(fc.array(change, { maxLength: 6 }), asked, async (changes, level) => {
    const bytes = Buffer.from(sound);
    // Pixels hold nothing to damage, and fill half of the file.
    for (const { at, value } of changes) bytes[at < 512 ? at + 8 : at] = value;
    await writeFile(path, bytes);
    try {
      await (await openImage(pathToFileURL(path).href, { level })).close();
    } catch (error) {
      assert.ok(error instanceof InputError, (error as Error).stack);
      assert.match(error.message, /^\S[^\n]*[^\s.:]$/);
    }
  });
  await fc.assert(property, { numRuns: repeated(60, 600) });
});
