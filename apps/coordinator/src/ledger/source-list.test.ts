import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packSources } from '@halogrid/sources/pack-sources';
import fc from 'fast-check';
import { type PlannedSource, SourceList } from './source-list.ts';

const folders = ['file:///archive/camera-07/', 's3://bucket/ünï/', ''];

function sourceOf(index: number): PlannedSource {
  const name = `frame-${String(index).padStart(6, '0')}.jpg`;
  const uri = `${folders[Math.floor(index / 100) % folders.length]}${name}`;
  const video = { frame: index, timestampMs: index % 2 ? null : index / 3 };
  return { uri, name: index % 7 ? name : `own ${index}`, tiles: index % 5, ...(index % 3 === 0 && { video }) };
}

test('sources are read as they were added, one after another and in any order', () => {
  const list = new SourceList();
  const count = 1500;
  const order = fc.sample(fc.nat(count - 1), 200);
  for (let index = 0; index < count; index++) {
    assert.equal(list.length, index);
    list.add(sourceOf(index));
    for (const back of [0, 1, 256, 700]) if (back <= index) check(list, index - back);
  }
  for (const index of order) check(list, index);
  assert.deepEqual(
    Array.from(list, plain),
    Array.from({ length: count }, (_, index) => sourceOf(index)),
  );
});

test('two that read by turns do not disturb each other', () => {
  const list = new SourceList();
  for (let index = 0; index < 600; index++) list.add(sourceOf(index));
  let index = 0;
  for (const source of list) {
    check(list, 599 - index);
    assert.deepEqual(plain(source), sourceOf(index++));
  }
  assert.equal(index, 600);
});

test('packed frames are read from their blocks, among others that come one by one', () => {
  const list = new SourceList();
  const expected: PlannedSource[] = [];
  for (const [count, isPacked] of [
    [3, false],
    [300, true],
    [1, true],
    [520, false],
    [40, true],
    [2, false],
  ] as const) {
    const sources = Array.from({ length: count }, (_, i) => {
      const { uri, name } = sourceOf(expected.length + i);
      return { uri, name, tiles: 1 };
    });
    const first = expected.length;
    expected.push(...sources);
    if (!isPacked) for (const source of sources) list.add(source);
    else {
      const block = packSources(sources.map(({ uri, name }, i) => ({ index: first + i, uri, name, sizeBytes: 0 })));
      const about = { isPinned: false, uri: sources[0]!.uri, folders: [], hasPreviews: false };
      list.addFrames({ kind: 'packed', first, count, block, ...about });
    }
    assert.equal(list.length, expected.length);
  }
  for (const index of [0, 3, 302, 303, 304, 823, 824, 863, 864, 865, 2]) {
    assert.deepEqual(plain(list.get(index)), expected[index], String(index));
  }
  assert.deepEqual(Array.from(list, plain), expected);
  const late = { kind: 'packed', first: 9, count: 1, block: new Uint8Array() } as const;
  assert.throws(
    () => list.addFrames({ ...late, isPinned: false, uri: '', folders: [], hasPreviews: false }),
    /^RangeError: Source 9 is planned where 866 is next$/,
  );
});

const check = (list: SourceList, index: number): void => assert.deepEqual(plain(list.get(index)), sourceOf(index));

const plain = ({ uri, name, tiles, video }: PlannedSource): PlannedSource => ({
  uri,
  name,
  tiles,
  ...(video && { video }),
});
