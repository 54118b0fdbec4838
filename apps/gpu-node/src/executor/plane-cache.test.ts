import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { InputError } from '@halogrid/sources';
import { type Borrowed, type ImageContent, type LoadImage, PlaneCache } from './plane-cache.ts';

/** Loads planes of `bytes` bytes, and counts the loads of each key. */
function createLoader() {
  const loads: string[] = [];
  const plane =
    (key: string, bytes: number): LoadImage =>
    async (reserve) => {
      loads.push(key);
      await reserve(bytes);
      return { kind: 'planes', width: bytes, height: 1, pixel: 'u8', bytes: new Uint8Array(bytes) };
    };
  return { loads, plane };
}

/** Borrows and gives back at once. */
async function touch(cache: PlaneCache, key: string, load: LoadImage): Promise<ImageContent> {
  const { content, release } = await cache.borrow(key, load);
  release();
  return content;
}

test('concurrent borrowers share one load', async () => {
  const { loads, plane } = createLoader();
  const cache = new PlaneCache(100);
  const borrowed = await Promise.all([1, 2, 3].map(() => cache.borrow('a', plane('a', 40))));
  assert.equal(new Set(borrowed.map(({ content }) => content)).size, 1);
  assert.deepEqual(loads, ['a']);
  assert.equal(cache.usedBytes, 40);
});

test('a plane that nobody borrows stays until its memory is wanted, the least recently used first', async () => {
  const { loads, plane } = createLoader();
  const cache = new PlaneCache(100);
  await touch(cache, 'a', plane('a', 40));
  await touch(cache, 'b', plane('b', 40));
  await touch(cache, 'a', plane('a', 40));
  await touch(cache, 'c', plane('c', 40));
  await touch(cache, 'a', plane('a', 40));
  await touch(cache, 'b', plane('b', 40));
  assert.deepEqual(loads, ['a', 'b', 'c', 'b']);
  assert.ok(cache.usedBytes <= 100);
});

test('planes give their memory back once they are evicted, and not before', async () => {
  const cache = new PlaneCache(100);
  const given: string[] = [];
  const plane =
    (key: string): LoadImage =>
    async (reserve) => {
      await reserve(40);
      const bytes = new Uint8Array(40);
      return { kind: 'planes', width: 40, height: 1, pixel: 'u8', bytes, giveBack: () => void given.push(key) };
    };
  const a = await cache.borrow('a', plane('a'));
  await touch(cache, 'b', plane('b'));
  await touch(cache, 'c', plane('c'));
  await turn();
  assert.deepEqual(given, ['b']);
  a.release();
  await touch(cache, 'd', plane('d'));
  await turn();
  assert.deepEqual(given, ['b', 'a']);
});

test('a load waits for memory that is borrowed', async () => {
  const { loads, plane } = createLoader();
  const cache = new PlaneCache(100);
  const first = await cache.borrow('a', plane('a', 80));
  let second: Borrowed | undefined;
  const loading = cache.borrow('b', plane('b', 80)).then((borrowed) => {
    second = borrowed;
  });
  await turn();
  assert.equal(second, undefined);
  first.release();
  await loading;
  assert.deepEqual(loads, ['a', 'b']);
  assert.equal(cache.usedBytes, 80);
});

test('planes above the budget are held one at a time', async () => {
  const { plane } = createLoader();
  const cache = new PlaneCache(100);
  let held = 0;
  let most = 0;
  const uses = Array.from({ length: 6 }, async (_, i) => {
    const { release } = await cache.borrow(`${i % 3}`, plane(`${i % 3}`, 300));
    held = cache.usedBytes;
    most = Math.max(most, held);
    await turn();
    release();
  });
  await Promise.all(uses);
  assert.equal(most, 300);
});

test('an image without planes takes no memory, and is known afterwards', async () => {
  const cache = new PlaneCache(100);
  let loads = 0;
  const load: LoadImage = async () => {
    loads++;
    return { kind: 'regions' };
  };
  for (let i = 0; i < 3; i++) assert.deepEqual(await touch(cache, 'a', load), { kind: 'regions' });
  assert.deepEqual([loads, cache.usedBytes], [1, 0]);
});

test('a broken image is not decoded again, and its memory is given back', async () => {
  const cache = new PlaneCache(100);
  let loads = 0;
  const load: LoadImage = async (reserve) => {
    loads++;
    await reserve(50);
    return { kind: 'broken', error: new InputError('decode', 'It is cut off') };
  };
  for (let i = 0; i < 2; i++) assert.equal((await touch(cache, 'a', load)).kind, 'broken');
  assert.deepEqual([loads, cache.usedBytes], [1, 0]);
});

test('a load that fails for another reason is tried again', async () => {
  const { plane } = createLoader();
  const cache = new PlaneCache(100);
  const failing: LoadImage = async (reserve) => {
    await reserve(50);
    throw new Error('out of memory');
  };
  await assert.rejects(cache.borrow('a', failing), /out of memory/);
  assert.equal(cache.usedBytes, 0);
  assert.equal((await touch(cache, 'a', plane('a', 10))).kind, 'planes');
});

test('the number of images it knows is bounded', async () => {
  const cache = new PlaneCache(100);
  let loads = 0;
  const load: LoadImage = async () => {
    loads++;
    return { kind: 'regions' };
  };
  for (let i = 0; i < 2000; i++) await touch(cache, `${i}`, load);
  await touch(cache, '1999', load);
  assert.equal(loads, 2000);
  await touch(cache, '0', load);
  assert.equal(loads, 2001);
});
