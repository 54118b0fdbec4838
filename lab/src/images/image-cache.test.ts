import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ImageCache, randomImage } from './image-cache.ts';

const root = mkdtempSync(join(tmpdir(), 'halogrid-images-'));
after(() => rmSync(root, { recursive: true }));
const size = { width: 13, height: 7 };
const file = join(root, 'bench-images', 'random-13x7-1.tif');

test('an image is made once, kept without compression, and read from then on', async () => {
  const first = await new ImageCache([root]).load(size, 1);
  const rgb = randomImage(size, 1);
  assert.deepEqual(
    first,
    Uint8Array.from({ length: 3 * 91 }, (_, i) => rgb[(i % 91) * 3 + Math.floor(i / 91)]!),
  );
  assert.ok(statSync(file).size > rgb.length);

  const changed = readFileSync(file);
  changed[changed.length - 1]! ^= 0xff;
  writeFileSync(file, changed);
  const second = await new ImageCache([root]).load(size, 1);
  assert.equal(second.at(-1), first.at(-1)! ^ 0xff);
  assert.deepEqual(readdirSync(join(root, 'bench-images')), ['random-13x7-1.tif']);
});

test('a damaged file is made again, and a root that cannot be written is passed over', async () => {
  writeFileSync(file, 'II*');
  const planes = await new ImageCache(['/dev/null/nowhere', root]).load(size, 1);
  assert.equal(planes[0], randomImage(size, 1)[0]);
});

test('images of other indices differ, the same index is the same', () => {
  assert.deepEqual(randomImage(size, 2), randomImage(size, 2));
  assert.notDeepEqual(randomImage(size, 2), randomImage(size, 1));
});
