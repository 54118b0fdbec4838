import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolders, makeFoldersSync } from './make-folders.ts';

test('a folder is made with its parents, and the first missing one is returned', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-make-folders-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'a/b/c');
  assert.equal(await makeFolders(path, 0o700), join(folder, 'a'));
  for (const made of ['a', 'a/b', 'a/b/c']) assert.equal((await stat(join(folder, made))).mode & 0o777, 0o700, made);
  assert.equal(await makeFolders(path), undefined);
  makeFoldersSync(join(path, 'd/e'));
  makeFoldersSync(join(path, 'd/e'));
  assert.ok((await stat(join(path, 'd/e'))).isDirectory());
});

test('a folder in an impossible place is refused at once', { skip: !existsSync('/proc/self') }, async () => {
  for (const path of ['/proc/nowhere/.cache/halogrid', '/proc/self/x/y', '/dev/null/x/y']) {
    await assert.rejects(makeFolders(path), /^Error: (ENOENT|ENOTDIR|EACCES|EPERM): /, path);
    assert.throws(() => makeFoldersSync(path), /^Error: (ENOENT|ENOTDIR|EACCES|EPERM): /, path);
  }
});
