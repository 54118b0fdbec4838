import assert from 'node:assert/strict';
import { test } from 'node:test';
import { temporaryFile } from '@halogrid/sources/testing-files';
import { openImage } from './open-image.ts';
import { peekSize } from './peek-size.ts';
import { expectedFixtures, fixtureBytes, fixtureUri } from './testing/images.ts';

test('the size that is peeked at is the size of the image', async () => {
  const peeked = [];
  for (const name of Object.keys(expectedFixtures)) {
    const { width, height } = expectedFixtures[name]!;
    const size = await peekSize(fixtureUri(name));
    if (size) assert.deepEqual(size, { width, height, pixel: name.startsWith('deep') ? 'u16' : 'u8' }, name);
    if (size) peeked.push(name);
  }
  for (const extension of ['jpg', 'png', 'webp', 'tif', 'ppm', 'gif'])
    assert.ok(peeked.some((name) => name.endsWith(extension)));
});

test('a size behind a thumbnail and profiles is found', async (t) => {
  const name = Object.keys(expectedFixtures).find((fixture) => fixture.endsWith('.jpg'))!;
  const jpeg = fixtureBytes(name);
  const segment = Buffer.concat([Buffer.from([0xff, 0xe1, 0xff, 0xff]), Buffer.alloc(65533)]);
  const uri = await temporaryFile(t, 'a.jpg', Buffer.concat([jpeg.subarray(0, 2), segment, segment, jpeg.subarray(2)]));
  const { width, height } = expectedFixtures[name]!;
  assert.deepEqual(await peekSize(uri), { width, height, pixel: 'u8' });
  const image = await openImage(uri);
  await image.close();
  assert.deepEqual({ width: image.width, height: image.height }, { width, height });
});

test('a file without a size to peek at gives none, and nothing is thrown', async (t) => {
  const jpeg = fixtureBytes(Object.keys(expectedFixtures).find((fixture) => fixture.endsWith('.jpg'))!);
  for (const content of [
    '',
    'text that is long enough for any header',
    jpeg.subarray(0, 40),
    'P5 4 4 255\n15 bytes of pix',
    Buffer.alloc(100, 0xff),
  ]) {
    assert.equal(await peekSize(await temporaryFile(t, 'a.jpg', content)), undefined);
  }
  assert.equal(await peekSize('file:///does/not/exist.png'), undefined);
  assert.equal(await peekSize('https://example.com/a.png'), undefined);
});
