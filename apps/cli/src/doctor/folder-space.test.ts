import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { folderSpaces } from './folder-space.ts';

test('a missing folder has the free space of the nearest existing folder above it', () => {
  const env = { XDG_DATA_HOME: join(tmpdir(), 'missing/data'), XDG_CACHE_HOME: tmpdir() };
  const found = folderSpaces(env, tmpdir());
  assert.deepEqual(
    found.map(({ what, path, canWrite }) => [what, path, canWrite]),
    ['results', 'ledger', 'cache'].map((what) => [what, found[0]!.path, true]),
  );
  for (const { freeBytes } of found) assert.ok(freeBytes > 0);
});
