import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { temporaryFolder } from '@halogrid/sources/testing-files';
import { askPython, lacksPython } from '@halogrid/testing';
import fc from 'fast-check';
import { openImage } from '../open-image.ts';
import { decodeOpen, planes } from '../testing/images.ts';
import { hasOtherPictures, type PyramidPage } from './tiff/pyramid-levels.ts';

// Worth its seconds: a stack that is read as its first picture in silence is a wrong result. The files are of other
// programs, made by one call.

const skip = lacksPython('import tifffile, PIL');

test('a file of several pictures says that only the first was read, and once for all tiles', { skip }, async (t) => {
  const folder = await temporaryFolder(t);
  const program = fileURLToPath(new URL('testing/make-stacks.py', import.meta.url));
  const made: Record<string, string[]> = JSON.parse(askPython(program, [folder]));
  const sentences: Record<string, string | undefined> = {
    several: 'only the first of several pages was read',
    animated: 'only the first frame of an animation was read',
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
  const uriOf = (name: string): string => pathToFileURL(made.several!.find((file) => basename(file) === name)!).href;
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
