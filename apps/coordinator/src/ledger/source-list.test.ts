import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { plannedSources, type ToldSource } from '../testing/planned.ts';
import { SourceList } from './source-list.ts';

const folders = ['file:///archive/camera-07/', 's3://bucket/ünï/', ''];

function sourceOf(index: number): ToldSource & { name: string; sizeBytes: number } {
  const name = `frame-${String(index).padStart(6, '0')}`;
  const uri = `${folders[Math.floor(index / 100) % folders.length]}${name}.jpg`;
  const video = { frame: index, timestampMs: index % 2 ? null : index / 3 };
  return {
    index,
    uri,
    name,
    sizeBytes: 7,
    ...(index % 5 > 1 && { tiles: index % 5 }),
    ...(index % 3 === 0 && { video }),
  };
}

test('sources are read in their order and in any other, in whatever order their blocks came', () => {
  const blocks = fc
    .array(fc.nat(3), { minLength: 1, maxLength: 60 })
    // Frames of a batch, and sources of other blocks among them.
    .chain((of) => fc.tuple(fc.constant(of), fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 })));
  fc.assert(
    fc.property(blocks, fc.infiniteStream(fc.nat()), ([of, order], reads) => {
      const list = new SourceList();
      let length = 0;
      for (const block of order) {
        const its = [...of.keys()].filter((index) => of[index] === block).map(sourceOf);
        if (its.length === 0) continue;
        list.add(plannedSources(its));
        length += its.length;
        assert.equal(list.length, length);
      }
      for (const read of reads.take(30)) {
        const index = read % of.length;
        assert.deepEqual(list.get(index), sourceOf(index));
        assert.equal(list.tiles(index), index % 5 > 1 ? index % 5 : 1);
        const { nth, left } = list.place(index)!;
        assert.equal(nth, of.slice(0, index).filter((block) => block === of[index]).length);
        const behind = of.slice(index).findIndex((block) => block !== of[index]);
        assert.equal(left, behind < 0 ? of.length - index : behind);
      }
      assert.deepEqual(
        [...list],
        of.map((_, index) => sourceOf(index)),
      );
      assert.equal(list.place(of.length), undefined);
    }),
  );
});

test('two that read by turns do not disturb each other', () => {
  const list = new SourceList();
  for (let first = 0; first < 600; first += 100) {
    list.add(plannedSources(Array.from({ length: 100 }, (_, i) => sourceOf(first + i))));
  }
  let index = 0;
  for (const source of list) {
    assert.deepEqual(list.get(599 - index), sourceOf(599 - index));
    assert.deepEqual(source, sourceOf(index++));
  }
  assert.equal(index, 600);
});

test('a source that is planned twice, or was not planned, is refused', () => {
  const list = new SourceList();
  list.add(plannedSources([3, 4, 7, 8].map(sourceOf)));
  for (const again of [[4, 5], [2, 3], [8], [7]]) {
    const [first] = again as [number];
    assert.throws(() => list.add(plannedSources(again.map(sourceOf))), new RegExp(`^RangeError: Source ${first} is`));
  }
  list.add(plannedSources([5, 6, 9].map(sourceOf)));
  assert.throws(() => list.get(2), /^RangeError: There is no source 2$/);
});
