import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { forgetJpegRate, readJpegRate, writeJpegRate } from './jpeg-rate-file.ts';

const adapter = { name: 'a card', driver: '1' };

test('a rate is kept in the first folder that can be written, for its adapter and driver, until it is forgotten', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-test-'));
  try {
    const folders = ['/dev/null/nowhere', join(folder, 'cache')];
    assert.equal(await readJpegRate(adapter, folders), undefined);
    await writeJpegRate(adapter, 5e9, folders);
    assert.equal(await readJpegRate(adapter, folders), 5e9);
    assert.equal(await readJpegRate({ ...adapter, driver: '2' }, folders), undefined);
    const [name] = await readdir(folders[1]!);
    assert.match(name!, /^jpeg-rate-[0-9a-f]{16}\.json$/);
    for (const damaged of ['{', '{"softwareVersion":"0.0.1","bytesPerSecond":1}', '{}']) {
      await writeFile(join(folders[1]!, name!), damaged);
      assert.equal(await readJpegRate(adapter, folders), undefined);
    }
    assert.deepEqual(await forgetJpegRate(adapter, folders), [join(folders[1]!, name!)]);
    assert.deepEqual(await forgetJpegRate(adapter, folders), []);
    // Nowhere to be kept: the next run measures it again.
    await writeJpegRate(adapter, 5e9, folders.slice(0, 1));
  } finally {
    await rm(folder, { recursive: true });
  }
});
