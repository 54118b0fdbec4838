import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { forgetJpegRate, readJpegRate, writeJpegRate } from './jpeg-rate-file.ts';

const adapter = { name: 'a card', driver: '1' };

test('a rate is kept for its adapter and driver, in the first folder that can be written, until it is forgotten', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-test-'));
  try {
    const folders = ['/dev/null/nowhere', join(folder, 'cache')];
    assert.equal(await readJpegRate(adapter, 'gray', folders), undefined);
    await writeJpegRate(adapter, 'gray', 5e9, folders);
    assert.equal(await readJpegRate(adapter, 'gray', folders), 5e9);
    assert.equal(await readJpegRate({ ...adapter, driver: '2' }, 'gray', folders), undefined);
    const [name] = await readdir(folders[1]!);
    assert.match(name!, /^jpeg-rate-[0-9a-f]{16}\.json$/);
    for (const damaged of ['{', '{"softwareVersion":"0.0.1","bytesPerSecond":1}', '{}']) {
      await writeFile(join(folders[1]!, name!), damaged);
      assert.equal(await readJpegRate(adapter, 'gray', folders), undefined);
    }
    assert.equal(await readJpegRate(adapter, 'rgb', folders), undefined);
    await writeJpegRate(adapter, 'rgb', 2e9, folders);
    assert.equal(await readJpegRate(adapter, 'rgb', folders), 2e9);
    const kept = (await readdir(folders[1]!)).toSorted().map((one) => join(folders[1]!, one));
    assert.deepEqual([kept.length, (await forgetJpegRate(adapter, folders)).toSorted()], [2, kept]);
    assert.deepEqual(await forgetJpegRate(adapter, folders), []);
    // It can be kept nowhere: the next run measures it again.
    await writeJpegRate(adapter, 'gray', 5e9, folders.slice(0, 1));
  } finally {
    await rm(folder, { recursive: true });
  }
});
