import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { temporaryFile } from '@halogrid/sources/testing-files';
import { askPython, pythonFails } from '@halogrid/testing';
import fc from 'fast-check';
import { openImage } from '../open-image.ts';
import { decodeOpen, decodeWhole, planes } from '../testing/images.ts';
import { sayOtherJpegs } from './other-jpegs.ts';
import { hasOtherPictures, type PyramidPage } from './tiff/pyramid-levels.ts';
import { type WrittenTiff, writeTiff } from './tiff/testing/write-tiff.ts';

// Worth its seconds: a stack that is read as its first picture in silence is a wrong result. The files are of other
// programs, made by one call.

const skip = pythonFails('import tifffile, PIL');

const folder = mkdtempSync(join(tmpdir(), 'halogrid-stacks-'));
after(() => rmSync(folder, { recursive: true }));

/** Files by what is said of them. */
let made: Record<string, string[]> = {};
let pages: [file: string, page: number, planes: string][] = [];
before(() => {
  if (skip) return;
  const program = fileURLToPath(new URL('testing/make-stacks.py', import.meta.url));
  ({ pages, ...made } = JSON.parse(askPython(program, [folder])));
});

test('what is not read of a file is said once for all tiles: other pictures, and a fourth band', { skip }, async () => {
  const sentences: Record<string, string | undefined> = {
    several: 'only the first of several pages was read; --page N reads another',
    stack: 'only the first of several pages was read',
    animated: 'only the first frame of an animation was read; --page N reads another',
    still: 'only the first frame of an animation was read',
    pictures: 'only the first of several pictures was read',
    band: 'a fourth band, which the file does not call alpha, was not read; --band 4 reads it',
    one: undefined,
  };
  for (const [kind, files] of Object.entries(made)) {
    for (const file of files) {
      const image = await openImage(pathToFileURL(file).href);
      await decodeOpen(image);
      assert.equal(image.mended, sentences[kind], basename(file));
      await image.close();
    }
  }
  const uriOf = (name: string, kind = 'several'): string =>
    pathToFileURL(made[kind]!.find((file) => basename(file) === name)!).href;
  // The tile with the first pixel says it, and so does a copy.
  const image = await openImage(uriOf('channels.ome.tif'));
  const target = planes(64, 64, 'gray');
  await image.decode({ x: 64, y: 64, width: 64, height: 64 }, target);
  assert.equal(image.mended, undefined);
  await image.decode({ x: 0, y: 0, width: 64, height: 64 }, target);
  assert.match(image.mended!, /^only the first of several pages/);
  await image.close();
  const large = await openImage(uriOf('pages.tif'), { maxWholePixels: 1 });
  await large.copy!.write(`${folder}/copy.pgm`, 'gray');
  assert.match(large.mended!, /^only the first of several pages/);
  await large.close();
  // The second entry of the list begins 66 bytes behind the word.
  const mpo = readFileSync(new URL(uriOf('stereo.mpo', 'pictures')));
  const second = mpo.indexOf('MPF\0') + 70;
  const kinds: [kind: number, bytes: number, counts: boolean][] = [
    [0x02_0002, 1, true],
    [0x8002_0003, 1, true],
    [0x01_0002, mpo.length, false],
    [0, 1, false],
    [0, mpo.length, true],
  ];
  for (const [kind, bytes, counts] of kinds) {
    mpo.writeUInt32LE(kind, second);
    mpo.writeUInt32LE(bytes, second + 4);
    assert.equal(sayOtherJpegs(mpo) !== undefined, counts, kind.toString(16));
  }
  const change = fc.record({ at: fc.nat(120), value: fc.nat(255) });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 8 }), (changes) => {
      const damaged = Buffer.from(mpo);
      for (const { at, value } of changes) damaged[at] = value;
      const said = sayOtherJpegs(damaged);
      assert.ok(said === undefined || said === sentences.pictures);
    }),
  );
});

test('each page of a stack is what tifffile reads, and each frame of an animation what Pillow reads', {
  skip,
}, async () => {
  assert.equal(pages.length, 24);
  for (const [file, page, planesOfPage] of pages) {
    const uri = pathToFileURL(file).href;
    const read = await decodeWhole(uri, 'rgb', { page });
    assert.ok(readFileSync(planesOfPage).equals(read), `page ${page} of ${basename(file)}`);
    if (page === 1 && !file.endsWith('.gif')) assert.deepEqual(await decodeWhole(uri, 'rgb'), read, basename(file));
  }
  const uriOf = (name: string): string => pathToFileURL(join(folder, name)).href;
  // A page has levels of its own, and says nothing of other pages.
  const image = await openImage(uriOf('channels.ome.tif'), { page: 2, level: { number: 1 } });
  const half = await decodeOpen(image);
  assert.deepEqual([image.width, image.height, image.mended], [200, 160, undefined]);
  const whole = await decodeWhole(uriOf('channels.ome.tif'), 'gray', { page: 2 });
  for (const at of [0, 57, 199, 200 * 159]) assert.equal(half[at], whole[2 * (at % 200) + 800 * Math.floor(at / 200)]);
  await image.close();
  const refusals: [file: string, page: number, message: string][] = [
    ['pages.tif', 4, 'The TIFF has 3 pages but the job asks for page 4'],
    ['thumbnail.tif', 3, 'The TIFF has 2 pages but the job asks for page 3'],
    ['moving.gif', 5, 'The GIF has 4 frames but the job asks for page 5'],
    ['still.webp', 2, 'The WebP has 1 frame but the job asks for page 2'],
    ['moving.png', 2, 'A PNG has no pages but the job asks for page 2'],
    ['stereo.mpo', 2, 'A JPEG has no pages but the job asks for page 2'],
  ];
  for (const [file, page, message] of refusals) {
    await assert.rejects(openImage(uriOf(file), { page }), { name: 'InputError', stage: 'decode', message });
  }
  await (await openImage(uriOf('still.png'), { page: 1 })).close();
});

test('pages in a circle come to an end, and thumbnails and masks between them do not count', async (t) => {
  const page = (gray: number, kind: number): WrittenTiff => {
    return { width: 1, height: 1, blocks: [Uint8Array.of(gray)], tags: { NewSubfileType: [kind] } };
  };
  const kinds = [1, 0, 4, 2, 1, 0];
  const [first, ...others] = kinds.map((kind, i) => page(i, kind));
  const bytes = writeTiff({ ...first!, pages: others });
  const uri = await temporaryFile(t, 'kinds.tif', bytes);
  for (const [page, gray] of [1, 3, 5].entries()) {
    assert.deepEqual([...(await decodeWhole(uri, 'gray', { page: page + 1 }))], [gray]);
  }
  const message = 'The TIFF has 3 pages but the job asks for page 4';
  await assert.rejects(openImage(uri, { page: 4 }), { message });
  // The last directory names the one before it.
  bytes.writeUInt32LE(bytes.readUInt32LE(4), bytes.length - 4);
  const circle = await temporaryFile(t, 'circle.tif', bytes);
  await assert.rejects(openImage(circle, { page: 65_535 }), { message: /^The TIFF has 3 pages but/ });
});

test('a page of a pyramid has no levels beyond the next page', async (t) => {
  const tiled = (side: number, gray: number): WrittenTiff => ({
    width: side,
    height: side,
    blocks: Array.from({ length: (side / 16) ** 2 }, () => new Uint8Array(256).fill(gray)),
    tags: { TileWidth: [16], TileLength: [16] },
  });
  const bytes = writeTiff({ ...tiled(32, 1), pages: [tiled(16, 2)] });
  const uri = await temporaryFile(t, 'two.tif', bytes);
  const asked = { level: { number: 1 } };
  assert.deepEqual([...new Set(await decodeWhole(uri, 'gray', asked))], [2]);
  await assert.rejects(openImage(uri, { ...asked, page: 1 }), { name: 'InputError', message: / asks for (level )?1/ });
});

test('levels, thumbnails and masks are no other pictures; a page of the same size is one', () => {
  const storage = { bitsPerSample: [8], sampleFormat: [1], samplesPerPixel: 1 };
  const side = fc.integer({ min: 64, max: 2 ** 20 });
  fc.assert(
    fc.property(side, side, fc.boolean(), (width, height, isTile) => {
      const first: PyramidPage = { width, height, isTile, isReduced: false, isMask: false, storage };
      const half = { ...first, width: Math.ceil(width / 2), height: Math.ceil(height / 2) };
      const other = { ...first, width, height: Math.floor(height / 2), isTile: false };
      const mask = { ...first, isMask: true };
      assert.equal(hasOtherPictures(first, [half, { ...half, isTile: false }, mask], false), false);
      assert.equal(hasOtherPictures(first, [half, first], false), true);
      assert.equal(hasOtherPictures(first, [other], false), true);
      assert.equal(hasOtherPictures(first, [other], true), false);
      assert.equal(hasOtherPictures({ ...first, isTile: true }, [{ ...half, isTile: true }, other], false), false);
    }),
  );
});
