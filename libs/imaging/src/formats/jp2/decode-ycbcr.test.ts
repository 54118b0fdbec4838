import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { InputError } from '@halogrid/sources';
import { temporaryFolder } from '@halogrid/sources/testing-files';
import fc from 'fast-check';
import { openImage } from '../../open-image.ts';
import { decodeOpen, decodeWhole, planes } from '../../testing/images.ts';
import type { Codestream } from './codestream.ts';
import { decodeYcbcr } from './decode-ycbcr.ts';

// Worth its second: colours of slides are computed here, and what the decoder gives of components with fewer samples
// rests on how it is bound. OpenSlide reads the same files, which one call makes.

const python = '/usr/bin/python3';
const hasMakers =
  spawnSync(python, ['-c', "import tifffile, ctypes; ctypes.CDLL('libopenslide.so.0')"]).status === 0 &&
  spawnSync('opj_compress', ['-h']).error === undefined;
const skip = hasMakers
  ? false
  : 'tifffile, OpenSlide or OpenJPEG is not installed (python3-tifffile, libopenslide0, libopenjp2-tools)';

test('tiles in YCbCr have the colours that OpenSlide reads, or are refused by a sentence', { skip }, async (t) => {
  const folder = await temporaryFolder(t);
  const program = fileURLToPath(new URL('testing/make-ycbcr.py', import.meta.url));
  const made: [file: string, expected: string][] = JSON.parse(
    execFileSync(python, [program, folder], { encoding: 'utf8' }),
  );
  assert.equal(made.length, 4);
  for (const [file, expected] of made) {
    const uri = pathToFileURL(file).href;
    const whole = await decodeWhole(uri, 'rgb');
    assert.ok(readFileSync(expected).equals(whole), basename(file));
    const image = await openImage(uri);
    assert.deepEqual([image.readsRegions, image.pixel], [true, 'u8']);
    // A part of all tiles.
    const target = planes(24, 20, 'rgb');
    await image.decode({ x: 115, y: 119, width: 24, height: 20 }, target);
    for (const at of [0, 12, 13, 23 + 24 * 19]) {
      const from = 150 * (119 + Math.floor(at / 24)) + 115 + (at % 24);
      for (let plane = 0; plane < 3; plane++)
        assert.equal(target.bytes[480 * plane + at], whole[150 * 140 * plane + from], basename(file));
    }
    await image.close();
  }
  const sound = readFileSync(made[0]![0]);
  const path = join(folder, 'damaged.svs');
  const change = fc.record({ at: fc.nat(sound.length - 1), near: fc.nat(1), value: fc.nat(255) });
  const property = fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
    const bytes = Buffer.from(sound);
    // The first tile begins at byte 8 or soon after, and its header has 110 bytes.
    for (const { at, near, value } of changes) bytes[near ? at : 8 + (at % 160)] = value;
    await writeFile(path, bytes);
    try {
      const image = await openImage(pathToFileURL(path).href, { maxWholePixels: 2 ** 20 });
      await decodeOpen(image, 'rgb').finally(() => image.close());
    } catch (error) {
      assert.ok(error instanceof InputError, (error as Error).stack);
      assert.match(error.message, /^\S[^\n]*[^\s.:]$/);
    }
  });
  await fc.assert(property, { numRuns: 30 });
});

test('a large tile with fewer samples of chroma is refused before it is decoded', async () => {
  const stream = { chroma: [2, 1], x1: 2048, y1: 1024 } as unknown as Codestream;
  await assert.rejects(decodeYcbcr(stream, []), {
    name: 'InputError',
    message: /^It has 2048x1024 pixels in YCbCr with fewer samples of chroma, and at most 1048576 are decoded$/,
  });
});
