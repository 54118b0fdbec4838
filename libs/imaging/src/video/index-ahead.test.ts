// Recordings that are indexed before they are asked for. The indexer is made up here.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IndexAhead } from './index-ahead.ts';
import type { IndexLine } from './process/index-line.ts';
import type { VideoFile } from './video-file.ts';

/** Indexes a video once it is let go on; `x.mp4` has as many lines as `lines` says. */
function indexerOf(lines: Record<string, number> = {}) {
  const begun: string[] = [];
  const waiting = new Map<string, () => void>();
  async function* index({ version }: VideoFile): AsyncGenerator<IndexLine> {
    begun.push(version);
    await new Promise<void>((resolve) => waiting.set(version, resolve));
    for (let i = 0; i < (lines[version] ?? 2); i++) yield { kind: 'unreached', packet: i };
  }
  const open = async (uri: string) => ({ version: uri.slice('file:///'.length), close: () => {} }) as VideoFile;
  /** In time all that can be begun is. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { begun, index, open, settled, letGo: (version: string) => waiting.get(version)!() };
}

test('as many as may be are indexed at once, in their order, and each is kept until it is asked for', async () => {
  const { begun, index, open, settled, letGo } = indexerOf();
  const ahead = new IndexAhead(index, 2, open);
  for (const name of ['a', 'b', 'c']) ahead.add(`file:///${name}`);
  await settled();
  assert.deepEqual(begun, ['a', 'b']);
  letGo('b');
  await settled();
  assert.deepEqual(begun, ['a', 'b', 'c']);
  letGo('a');
  assert.equal((await ahead.take('file:///a', 'a'))?.length, 2);
  assert.equal((await ahead.take('file:///b', 'b'))?.length, 2);
});

test('a video that was not begun, has changed since, is on a server, or must not be indexed ahead is indexed when it is asked for', async () => {
  const { begun, index, open, settled, letGo } = indexerOf();
  const ahead = new IndexAhead(index, 1, open);
  for (const uri of ['file:///a', 'file:///b', 'https://c/c']) ahead.add(uri);
  await settled();
  assert.equal(await ahead.take('file:///b', 'b'), undefined);
  letGo('a');
  assert.equal(await ahead.take('file:///a', 'another version'), undefined);
  assert.equal(await ahead.take('https://c/c', 'c'), undefined);
  const none = new IndexAhead(index, 0, open);
  none.add('file:///d');
  await settled();
  assert.deepEqual(begun, ['a']);
});

test('behind a long recording nothing is begun, and it is indexed when it is asked for', async () => {
  const { begun, index, open, settled, letGo } = indexerOf({ long: 1000 });
  const ahead = new IndexAhead(index, 1, open);
  for (const name of ['long', 'a']) ahead.add(`file:///${name}`);
  await settled();
  letGo('long');
  assert.equal(await ahead.take('file:///long', 'long'), undefined);
  await settled();
  assert.deepEqual(begun, ['long']);
});

test('no more are kept than a bounded number, until some are asked for', async () => {
  const { begun, index, open, settled, letGo } = indexerOf();
  const ahead = new IndexAhead(index, 100, open);
  for (let i = 0; i < 50; i++) ahead.add(`file:///${i}`);
  await settled();
  assert.equal(begun.length, 32);
  letGo('0');
  await ahead.take('file:///0', '0');
  await settled();
  assert.equal(begun.length, 33);
});
