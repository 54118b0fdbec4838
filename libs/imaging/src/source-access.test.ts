import assert from 'node:assert/strict';
import { mkdir, realpath, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { restrictSources, unrestricted } from '@halogrid/sources';
import { temporaryFolder } from '@halogrid/sources/testing-files';
import { planeOf, writeZarr } from './formats/zarr/testing/write-zarr.ts';
import { openImage } from './open-image.ts';
import { decodeWhole } from './testing/images.ts';

test('no image is opened outside of the data roots, or from a host that is not allowed', async (t) => {
  const folder = await realpath(await temporaryFolder(t));
  const root = join(folder, 'root');
  await mkdir(root);
  for (const name of ['secret.pgm', 'root/in.pgm']) await writeFile(join(folder, name), 'P5\n2 2\n255\nabcd');
  await symlink('../secret.pgm', join(root, 'link.pgm'));
  restrictSources({ roots: [root], hosts: [] });
  t.after(() => restrictSources(unrestricted));
  const uriOf = (name: string): string => pathToFileURL(join(folder, name)).href;
  for (const uri of [uriOf('secret.pgm'), uriOf('missing.pgm'), uriOf('root/link.pgm'), 'http://127.0.0.1:1/a.pgm']) {
    await assert.rejects(openImage(uri), { name: 'SourceForbiddenError' }, uri);
  }
  await (await openImage(uriOf('root/in.pgm'))).close();
  // A file of a slide, too.
  await mkdir(join(root, 'slide'));
  await writeFile(join(root, 'slide.mrxs'), 'a label');
  await symlink('../../secret.pgm', join(root, 'slide/Data0000.dat'));
  await assert.rejects(openImage(uriOf('root/slide.mrxs')), { name: 'SourceForbiddenError' });
  // A chunk that a link leads to is outside, though its array is inside.
  const array = { shape: [4, 4], chunk: [4, 4] };
  const zarr = planeOf(await writeZarr(join(root, 'a.zarr'), array), []);
  await decodeWhole(zarr);
  await rename(join(root, 'a.zarr/c/0/0'), join(folder, 'chunk'));
  await symlink(join(folder, 'chunk'), join(root, 'a.zarr/c/0/0'));
  const outside = "The chunk 'c/0/0' cannot be read: the path lies outside of the data roots (--data-root)";
  await assert.rejects(decodeWhole(zarr), { message: outside });
});
