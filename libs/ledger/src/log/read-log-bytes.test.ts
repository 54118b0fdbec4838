import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readLogBytes } from './read-log-bytes.ts';

test('bytes of a log are read if they are as they were written; its folder may be missing for a while', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-read-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'log-1');
  await writeFile(path, 'abcdef');
  assert.equal(Buffer.from(readLogBytes(path, 2, 3)).toString(), 'cde');

  const damaged = (message: string) => ({ name: 'DamagedLogError', message: `The log '${path}' ${message}` });
  assert.throws(() => readLogBytes(path, 4, 3), damaged('has 6 bytes, but 7 were written'));
  assert.throws(() => readLogBytes(path, 40, 3), damaged('has 6 bytes, but 43 were written'));
  await rm(path);
  assert.throws(
    () => readLogBytes(path, 0, 1),
    damaged('was deleted or replaced while in use; the results so far are lost: run the job again'),
  );
  await rename(folder, `${folder}-away`);
  assert.throws(() => readLogBytes(path, 0, 1), { code: 'ENOENT' });
  await rename(`${folder}-away`, folder);
});
