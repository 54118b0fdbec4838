import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { restrictSources, unrestricted } from '@halogrid/sources';
import { folderInRoots, indexFolder } from './index-folders.ts';

const [root, elsewhere] = ['root', 'elsewhere'].map((name) => realpathSync(mkdtempSync(join(tmpdir(), name)))) as [
  string,
  string,
];
after(() => {
  restrictSources(unrestricted);
  for (const folder of [root, elsewhere]) rmSync(folder, { recursive: true });
});

const named = new Map([['faces', elsewhere]]);

test('an index is found by its name, or by its path in a data root, and nowhere else', async () => {
  symlinkSync(elsewhere, join(root, 'link'));
  assert.equal(await indexFolder('faces', named), elsewhere);
  await assert.rejects(indexFolder('others', named), {
    kind: 'missing',
    message: "There is no index 'others' here; there is faces",
  });
  await assert.rejects(indexFolder('faces', new Map()), {
    kind: 'missing',
    message: "There is no index 'faces' here: start 'halogrid coordinator' with --index DIR",
  });
  await assert.rejects(indexFolder(root, named), { kind: 'forbidden' });

  restrictSources({ roots: [root], hosts: [] });
  assert.equal(await indexFolder(root, named), root);
  for (const path of [elsewhere, join(root, 'link'), join(root, '..')]) {
    await assert.rejects(indexFolder(path, named), {
      kind: 'forbidden',
      message: 'The path lies outside of the data roots (--data-root)',
    });
  }
  await assert.rejects(indexFolder(join(root, 'none'), named), { kind: 'missing' });
  await assert.rejects(folderInRoots('out', 'an output'), {
    kind: 'invalid',
    message: "Expected an absolute path for the path of an output but received 'out'",
  });
});
