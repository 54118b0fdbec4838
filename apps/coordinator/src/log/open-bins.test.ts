import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repeated } from '@halogrid/testing';
import fc from 'fast-check';
import { decodeBlock, encodeBlock } from '../ledger/job-record.ts';
import { blockBins, OpenBins } from './open-bins.ts';

test('the blocks that were touched, as they were taken, are the sums', () => {
  const length = 2 * blockBins + 5;
  const add = fc.record({ at: fc.nat(length - 1), count: fc.integer({ min: 1, max: 9 }), takes: fc.boolean() });
  fc.assert(
    fc.property(fc.array(add, { maxLength: 6 }), (adds) => {
      const bins = new OpenBins(length);
      const kept = new Map<number, Uint8Array>();
      const take = () => {
        for (const block of bins.takeTouched()) kept.set(block, encodeBlock(bins.block(block)));
      };
      const expected = new Map<number, number>();
      for (const { at, count, takes } of adds) {
        const counts = Array.from({ length: Math.min(count, length - at) }, (_, i) => i + 1);
        bins.add(at, [0, ...counts], 1, counts.length);
        for (const [i, n] of counts.entries()) expected.set(at + i, (expected.get(at + i) ?? 0) + n);
        if (takes) take();
      }
      take();
      const restored = new OpenBins(length);
      for (const [block, bytes] of kept) {
        restored.restore(block * blockBins, decodeBlock(bytes, bins.block(block).length));
      }
      assert.ok(Buffer.from(restored.sums.buffer).equals(Buffer.from(bins.sums.buffer)));
      for (const [at, sum] of expected) assert.equal(bins.sums[at], sum);
      const most = new Set(adds.flatMap(({ at }) => [at, at + 8].map((bin) => Math.floor(bin / blockBins))));
      assert.ok(kept.size <= most.size);
    }),
    { numRuns: repeated(3, 20) },
  );
});

test('sums that may be above 32 bits are exact', () => {
  const bins = new OpenBins(2);
  const most = 2 ** 32 - 1;
  bins.makeRoomFor(most);
  bins.add(0, [most, 1], 0, 2);
  bins.makeRoomFor(2 * most);
  bins.add(0, [most, 1], 0, 2);
  assert.deepEqual([...bins.sums], [2 * most, 2]);
});

test('a block of another number of bins is noticed', () => {
  const bytes = encodeBlock([1, 200, 3]);
  assert.deepEqual([...decodeBlock(bytes, 3)], [1, 200, 3]);
  for (const count of [2, 4]) assert.throws(() => decodeBlock(bytes, count), RangeError);
});
