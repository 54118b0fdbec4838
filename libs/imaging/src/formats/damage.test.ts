import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { InputError } from '@halogrid/sources';
import { temporaryFolder } from '@halogrid/sources/testing-files';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { openImage } from '../open-image.ts';
import { type Channels, expectedFixtures, fixtureBytes, noGaps, planes } from '../testing/images.ts';

/** What is wrong with the image at `uri`; undefined if its first pixels could be decoded. */
async function complaint(uri: string, channels: Channels): Promise<unknown> {
  try {
    const image = await openImage(uri, { maxWholePixels: 2 ** 20 });
    try {
      const { width, height, readsRegions } = image;
      const part = readsRegions ? 64 : Number.POSITIVE_INFINITY;
      const region = { x: 0, y: 0, width: Math.min(width, part), height: Math.min(height, part) };
      await image.decode(region, planes(region.width, region.height, channels, noGaps, image.pixel));
    } finally {
      await image.close();
    }
  } catch (error) {
    return error;
  }
}

test('a damaged file of any format is decoded or refused in one sentence, and nothing worse', async (t) => {
  const folder = await temporaryFolder(t);
  const uri = pathToFileURL(join(folder, 'image')).href;
  const names = [...Object.keys(expectedFixtures), 'cmyk.jpg', 'raw.dng', 'float.tif'];
  const damage = fc.array(fc.record({ at: fc.nat(), near: fc.nat(3), value: fc.nat(255) }), {
    minLength: 1,
    maxLength: 4,
  });
  const channels = fc.constantFrom<Channels>('gray', 'rgb');
  const property = fc.asyncProperty(fc.constantFrom(...names), channels, damage, async (name, channels, changes) => {
    const bytes = fixtureBytes(name);
    // Damage to headers matters most: three of four changes go to the first or the last bytes.
    const end = [bytes.length, Math.min(bytes.length, 64), Math.min(bytes.length, 400)];
    for (const { at, near, value } of changes) {
      if (near === 3) bytes[bytes.length - 1 - (at % Math.min(bytes.length, 400))] = value;
      else bytes[at % end[near]!] = value;
    }
    await writeFile(join(folder, 'image'), bytes);
    const error = await complaint(uri, channels);
    if (error === undefined) return;
    assert.ok(error instanceof InputError, `${name}: ${(error as Error).stack}`);
    assert.match(error.message, /^\S[^\n]*[^\s.:]$/, name);
  });
  await fc.assert(property, { numRuns: repeated(100, 1000) });
});
