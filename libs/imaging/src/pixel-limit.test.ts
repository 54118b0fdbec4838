import assert from 'node:assert/strict';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { openImage } from './open-image.ts';

test('an image of 2^40 pixels is opened, one with a column more is refused', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-pixels-'));
  t.after(() => rm(folder, { recursive: true }));
  for (const width of [2 ** 20, 2 ** 20 + 1]) {
    const header = `P5\n${width} ${2 ** 20}\n255\n`;
    const path = join(folder, `${width}.pgm`);
    await writeFile(path, header);
    try {
      // Its pixels are a hole, which takes no space if the file system has holes.
      await truncate(path, header.length + width * 2 ** 20);
    } catch {
      return t.skip('The file system has no files of a terabyte');
    }
    const opened = openImage(pathToFileURL(path).href);
    if (width === 2 ** 20) await (await opened).close();
    else await assert.rejects(opened, { message: /^1048577x1048576 is more than the 1099511627776 pixels/ });
  }
});
