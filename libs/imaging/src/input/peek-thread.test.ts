import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { PeekThread } from './peek-thread.ts';

const folder = mkdtempSync(join(tmpdir(), 'halogrid-peek-'));
after(() => rmSync(folder, { recursive: true }));

/** PNGs, each of its own width; the last file is not there. */
const uris = Array.from({ length: 400 }, (_, i) => {
  const path = join(folder, `${i}.png`);
  const head = Buffer.from('89504e470d0a1a0a0000000d494844520000000000000007080000000000000000', 'hex');
  head.writeUInt32BE(i + 1, 16);
  if (i < 399) writeFileSync(path, head);
  return pathToFileURL(path).href;
});
const widths = uris.map((_, i) => (i < 399 ? i + 1 : undefined));

test('each file has its own size, with the thread as without', async () => {
  const thread = new PeekThread(100);
  const first = await Promise.all(uris.map((uri) => thread.peek(uri)));
  const second = await Promise.all(uris.map((uri) => thread.peek(uri)));
  for (const sizes of [first, second])
    assert.deepEqual(
      sizes.map((size) => size?.width),
      widths,
    );
  assert.deepEqual(second[4], { width: 5, height: 7, pixel: 'u8' });
  thread.close();
});

test('what is under way when the thread ends is answered all the same', async () => {
  const thread = new PeekThread(100);
  const sizes = uris.map((uri) => thread.peek(uri));
  // Some are on their way, others were asked for in this turn.
  await new Promise((resolve) => setImmediate(resolve));
  sizes.push(...uris.map((uri) => thread.peek(uri)));
  thread.close();
  const found = (await Promise.all(sizes)).map((size) => size?.width);
  assert.deepEqual(found, [...widths, ...widths]);
  assert.equal((await thread.peek(uris[9]!))?.width, 10);
});
