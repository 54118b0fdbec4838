import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ByteRange, cutRange, joinRanges, RangeSet } from './byte-ranges.ts';

const sizeBytes = 60;

const range = fc
  .tuple(fc.nat(sizeBytes), fc.nat(sizeBytes))
  .map(([a, b]): ByteRange => ({ start: Math.min(a, b), end: Math.max(a, b) }));

/** Whether each byte is in one of the ranges. */
const bytesOf = (ranges: readonly ByteRange[]): boolean[] =>
  Array.from({ length: sizeBytes }, (_, i) => ranges.some(({ start, end }) => start <= i && i < end));

test('joined ranges have the same bytes and small gaps filled, in order', () => {
  fc.assert(
    fc.property(fc.array(range), fc.nat(5), (ranges, gapBytes) => {
      const joined = joinRanges(ranges, gapBytes);
      const bytes = bytesOf(ranges);
      for (const [i, isIn] of bytesOf(joined).entries()) assert.ok(isIn || !bytes[i]);
      for (const [i, { start, end }] of joined.entries()) {
        assert.ok(start < end && bytes[start] && bytes[end - 1]);
        if (i > 0) assert.ok(start > joined[i - 1]!.end + gapBytes);
      }
      if (gapBytes === 0) assert.deepEqual(bytesOf(joined), bytes);
    }),
  );
});

test('the pieces of a range are the range', () => {
  fc.assert(
    fc.property(range, fc.integer({ min: 1, max: 20 }), (whole, maxBytes) => {
      const pieces = cutRange(whole, maxBytes);
      assert.ok(pieces.every(({ start, end }) => start < end && end - start <= maxBytes));
      assert.deepEqual(joinRanges(pieces, 0), joinRanges([whole], 0));
    }),
  );
});

test('ranges that were not added are missing', () => {
  fc.assert(
    fc.property(fc.array(range), range, (added, asked) => {
      const set = new RangeSet();
      for (const one of added) set.add(one);
      const present = bytesOf(added);
      const missing = set.missing(asked);
      assert.deepEqual(
        bytesOf(missing),
        bytesOf([asked]).map((isAsked, i) => isAsked && !present[i]),
      );
      assert.deepEqual(missing, joinRanges(missing, 0));
    }),
  );
});
