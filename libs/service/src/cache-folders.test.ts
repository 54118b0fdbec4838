import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { cacheFolders } from './cache-folders.ts';

test('a user without a home has the cache among the temporary files', () => {
  const nobody = () => {
    throw new Error('uv_os_homedir returned ENOENT');
  };
  for (const home of [nobody, () => '']) {
    const folders = cacheFolders({}, home);
    assert.equal(folders.length, 1);
    assert.ok(folders[0]!.startsWith(tmpdir()));
  }
});

test('the cache is in XDG_CACHE_HOME if that is set', () => {
  assert.equal(cacheFolders({ XDG_CACHE_HOME: '/somewhere' })[0], '/somewhere/halogrid');
});
