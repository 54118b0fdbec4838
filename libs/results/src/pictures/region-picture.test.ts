import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { temporaryFolder } from '../testing/maps.ts';
import { LastDecoded } from './last-decoded.ts';
import { regionPicture } from './region-picture.ts';

// The viewer zooms into a source by pictures of its parts. An image that is decoded whole is decoded once for them.

test('of one image, pixels are decoded once for all who ask, and again after a failure or another image', async () => {
  const last = new LastDecoded();
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
    const pictures = await Promise.all(parts.map((part) => regionPicture(href, part, 64)));
    for (const [i, { x, y, ...size }] of parts.entries()) {
      const part = { left: x, top: y, width: Math.min(size.width, width - x), height: size.height };
      const [shown, wanted] = [sharp(pictures[i]!.png), image.clone().extract(part)];
      assert.deepEqual(await shown.removeAlpha().raw().toBuffer(), await wanted.raw().toBuffer());
    }
  }
});
