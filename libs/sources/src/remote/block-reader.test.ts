import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { eventually } from '@halogrid/testing';
import { type ServedFile, sendFile, startServer, type TestServer } from '../testing/servers.ts';
import { BlockCache, BlockReader, blockBytes } from './block-reader.ts';
import { RemoteFile } from './remote-file.ts';

/** 20 blocks and a bit. */
const bytes = Buffer.alloc(20 * blockBytes + 77);
for (let i = 0; i < bytes.length; i += 4)
  bytes.writeInt32LE(Math.imul(i + 1, 2654435761) | 0, Math.min(i, bytes.length - 4));
const served = new Map<string, ServedFile>();
/** Ranges that were asked for, by name. */
const asked = new Map<string, string[]>();
let web: TestServer;

before(async () => {
  web = await startServer((request, response) => {
    const name = request.url!.slice(1);
    asked.set(name, [...(asked.get(name) ?? []), request.headers.range!]);
    sendFile(served.get(name)!, request, response);
  });
});
after(() => web.close());

async function open(name: string, etag?: string): Promise<BlockReader> {
  served.set(name, { bytes, etag });
  return new BlockReader(await RemoteFile.open(`${web.origin}/${name}`));
}

async function readAll(reader: BlockReader, length: number): Promise<string> {
  const digest = createHash('sha256');
  for (let at = 0; ; ) {
    const part = await reader.read(at, length);
    if (part.length === 0) break;
    assert.ok(part.length <= length);
    digest.update(part);
    at += part.length;
  }
  return digest.digest('hex');
}

const sha256 = createHash('sha256').update(bytes).digest('hex');
/** Requests for blocks, without those for the heads of the files. */
const blocksAsked = (name: string): string[] => asked.get(name)!.filter((range) => range !== 'bytes=0-1048575');

test('bytes that are read alone are fetched alone, unless their block is there', async () => {
  const reader = await open('alone', '"1"');
  const far = 9 * blockBytes + 100;
  assert.deepEqual(await reader.readAlone(far, 50), new Uint8Array(bytes.subarray(far, far + 50)));
  assert.deepEqual(blocksAsked('alone'), [`bytes=${far}-${far + 49}`]);
  await reader.read(10 * blockBytes, 10);
  assert.deepEqual((await reader.readAlone(10 * blockBytes + 7, 3)).length, 3);
  assert.equal(blocksAsked('alone').length, 2);
  assert.equal((await reader.readAlone(bytes.length - 5, 50)).length, 5);
  assert.equal((await reader.readAlone(bytes.length, 50)).length, 0);
  reader.close();
});

test('reading in order or anywhere gives the bytes of the file, and none behind its end', async () => {
  const reader = await open('a', '"1"');
  assert.equal(await readAll(reader, 50_000), sha256);
  for (const [position, length] of [
    [3, 10],
    [blockBytes - 5, 1000],
    [17 * blockBytes + 9, 2 ** 20],
    [bytes.length - 1, 100],
  ] as const) {
    const part = await reader.read(position, length);
    assert.ok(part.length > 0 && part.length <= length);
    assert.ok(bytes.subarray(position, position + part.length).equals(part));
  }
  assert.equal((await reader.read(bytes.length, 10)).length, 0);
  assert.equal((await reader.read(bytes.length + 10 * blockBytes, 10)).length, 0);
  reader.close();
});

test('readers of one version share its blocks, and each block is fetched once', async () => {
  const readers = [await open('b', '"1"'), await open('b', '"1"'), await open('b', '"1"')];
  const digests = await Promise.all(readers.map((reader) => readAll(reader, 70_000)));
  assert.deepEqual(digests, [sha256, sha256, sha256]);
  const ranges = blocksAsked('b');
  assert.equal(new Set(ranges).size, ranges.length);
  for (const reader of readers) reader.close();
});

test('blocks are not shared with another version, nor between readers if the server tells no version', async () => {
  for (const etags of [
    ['"1"', '"2"'],
    [undefined, undefined],
  ]) {
    const name = etags[0] ? 'versions' : 'no-versions';
    const first = await open(name, etags[0]);
    assert.equal(await readAll(first, blockBytes), sha256);
    const count = blocksAsked(name).length;
    const second = await open(name, etags[1]);
    assert.equal(await readAll(second, blockBytes), sha256);
    assert.equal(blocksAsked(name).length, 2 * count);
    first.close();
    second.close();
  }
});

test('blocks that are read here and there are fetched alone, and blocks that are read on and on are fetched ahead', async () => {
  const reader = await open('d', '"1"');
  for (const block of [19, 7, 12]) await reader.read(block * blockBytes, 100);
  assert.equal(blocksAsked('d').length, 3);
  for (const block of [13, 14]) await reader.read(block * blockBytes, 100);
  // 13 and 14, and 15, which is fetched ahead of its time.
  await eventually('a block that is fetched ahead', () => blocksAsked('d').length >= 6);
  assert.ok(blocksAsked('d')[5]!.startsWith(`bytes=${15 * blockBytes}-`));
  reader.close();
});

test('a cache keeps the blocks that were asked for last, and no failure', async () => {
  const cache = new BlockCache(2);
  const loaded: string[] = [];
  const get = (key: string) =>
    cache.get(key, async () => {
      loaded.push(key);
      if (key === 'bad') throw new Error('no such block');
      return new Uint8Array(1);
    });
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await get(key);
  assert.deepEqual(loaded, ['a', 'b', 'c', 'b']);
  for (let i = 0; i < 2; i++) await assert.rejects(get('bad'), /no such block/);
  assert.deepEqual(loaded.slice(4), ['bad', 'bad']);
});
