import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cutParts } from './cut-parts.ts';

const rate = fc.option(fc.double({ min: 1, max: 1e12, noNaN: true }), { nil: undefined });
const holders = fc.uniqueArray(fc.record({ id: fc.string({ minLength: 1, maxLength: 3 }), rate }), {
  selector: ({ id }) => id,
  maxLength: 6,
});
const sizes = fc.array(fc.integer({ min: 1, max: 2 ** 22 }), { maxLength: 40 });

test('every block is in one part, and every part has another node', () => {
  fc.assert(
    fc.property(sizes, holders, holders, fc.integer({ min: 1, max: 2 ** 23 }), (blocks, some, others, least) => {
      const before = cutParts(blocks, some, [], least);
      const parts = cutParts(blocks, others, before, least);
      const covered = parts.flatMap(({ first, end }) => Array.from({ length: end - first }, (_, i) => first + i));
      assert.deepEqual(covered, parts.length === 0 ? [] : blocks.map((_, i) => i));
      assert.equal(new Set(parts.map(({ node }) => node)).size, parts.length);
      assert.ok(parts.every(({ node }) => others.some(({ id }) => id === node)));
      const total = blocks.reduce((sum, size) => sum + size, 0);
      assert.ok(parts.length <= Math.floor(total / least));
      assert.equal(parts.length === 0, others.length === 0 || total < least);
    }),
  );
});

test('nodes have as much as they search in the same time, and keep it while that is near enough', () => {
  const blocks = Array.from({ length: 100 }, () => 10);
  const cut = (rates: (number | undefined)[], previous = [] as ReturnType<typeof cutParts>) =>
    cutParts(
      blocks,
      rates.map((rate, i) => ({ id: `n${i}`, rate })),
      previous,
      1,
    );
  const ends = (parts: ReturnType<typeof cutParts>): number[] => parts.map(({ end }) => end);
  const even = cut([undefined, undefined]);
  assert.deepEqual(ends(even), [50, 100]);
  assert.deepEqual(ends(cut([30, 10])), [75, 100]);
  assert.deepEqual(ends(cut([30, 10, undefined])), [50, 67, 100]);
  assert.deepEqual(cut([20, 10], even), even);
  assert.deepEqual(ends(cut([90, 10], even)), [90, 100]);
  assert.deepEqual(ends(cut([undefined], even)), [100]);
});
