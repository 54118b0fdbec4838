import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withFolder } from '../executor/testing/shard-fixture.ts';
import { sendPart } from './send-part.ts';
import { startTaker } from './testing/file-taker.ts';

test('a part is sent file by file, the list of sources of its first pipeline last, and is removed here', async (t) => {
  const { taken, origin } = await startTaker(t);
  await withFolder(async (folder) => {
    const files = ['a/sources.parquet', 'a/features.parquet', 'b/sources.parquet'].map((name) => `pipelines/${name}`);
    for (const name of files) await folder.put(`p/${name}`, name);
    await sendPart(join(folder.path, 'p'), `${origin}/parts/p`, ['a', 'b']);
    assert.equal(taken.at(-1)!.path, '/parts/p/pipelines/a/sources.parquet');
    assert.deepEqual(
      taken.map(({ path, bytes }) => [path, String(bytes)]).toSorted(),
      files.map((name) => [`/parts/p/${name}`, name]).toSorted(),
    );
    assert.equal(existsSync(join(folder.path, 'p')), false);
  });
});

test('a refused part is reported in a sentence, and is removed here', async (t) => {
  const { taken, origin } = await startTaker(t, 403);
  await withFolder(async (folder) => {
    await folder.put('p/sources.parquet', 'rows');
    await assert.rejects(sendPart(join(folder.path, 'p'), `${origin}/parts/p`, ['']), {
      message: 'The part could not be sent to the coordinator: 403 No',
    });
    assert.deepEqual([taken.length, existsSync(join(folder.path, 'p'))], [1, false]);
  });
});
