import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { InputError } from '../input-error.ts';
import { temporaryFolder } from '../testing/temporary-files.ts';
import { Masks } from './masks.ts';

// Names decide which pixels count, so a mask is never guessed.

test('the mask of an image has its path and any ending of an image; none or several are refused', async (t) => {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'cam.1'));
  for (const name of ['a.png', 'a.txt', 'b.c.TIF', 'two.png', 'two.pgm', 'cam.1/a.tif', 'video.mp4'])
    await writeFile(join(folder, name), '');
  const masks = new Masks(pathToFileURL(folder).href);
  const cases: [image: string, mask: string | RegExp][] = [
    ['a.tif', 'a.png'],
    ['b.c.jpg', 'b.c.TIF'],
    ['cam.1/a.jpg', 'cam.1/a.tif'],
    ['none.png', /^There is no mask '.*none' with the ending of an image for 'none\.png'$/],
    ['nowhere/a.png', /^There is no mask '.*nowhere\/a' /],
    ['video.png', /^There is no mask /],
    ['two.tif', /^There are several masks in '.*' for 'two\.tif': 'two\.pgm', 'two\.png'$/],
  ];
  for (const [image, wanted] of cases) {
    const found = await masks.of(image).catch((error: unknown) => error);
    if (wanted instanceof RegExp) assert.ok(found instanceof InputError && wanted.test(found.message), `${found}`);
    else assert.equal(fileURLToPath((found as { uri: string }).uri), join(folder, wanted));
  }
});

test('a file is the mask of every image, and its version changes with it', async (t) => {
  const path = join(await temporaryFolder(t), 'm.png');
  await writeFile(path, 'one');
  const uri = pathToFileURL(path).href;
  const first = await new Masks(uri).of('a.tif');
  assert.deepEqual(await new Masks(uri).of('b/c.png'), first);
  await writeFile(path, 'other');
  assert.notEqual((await new Masks(uri).of('a.tif')).version, first.version);
});
