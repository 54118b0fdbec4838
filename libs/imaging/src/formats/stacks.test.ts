import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { temporaryFolder } from '@halogrid/sources/testing-files';
import fc from 'fast-check';
import { openImage } from '../open-image.ts';
import { decodeOpen, planes } from '../testing/images.ts';
import { sayOtherJpegs } from './other-jpegs.ts';
import { hasOtherPictures, type PyramidPage } from './tiff/pyramid-levels.ts';

// Worth its seconds: a stack that is read as its first picture in silence is a wrong result. The files are of other
// programs, made by one call.

const python = '/usr/bin/python3';
const hasMakers = spawnSync(python, ['-c', 'import tifffile, PIL']).status === 0;
const skip = hasMakers ? false : 'tifffile or Pillow is not installed (python3-tifffile, python3-pil)';

test('a file of several pictures says that only the first was read, and once for all tiles', { skip }, async (t) => {
  const folder = await temporaryFolder(t);
  const program = fileURLToPath(new URL('testing/make-stacks.py', import.meta.url));
  const made: Record<string, string[]> = JSON.parse(execFileSync(python, [program, folder], { encoding: 'utf8' }));
  const sentences: Record<string, string | undefined> = {
    several: 'only the first of several pages was read',
    animated: 'only the first frame of an animation was read',
    pictures: 'only the first of several pictures was read',
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
