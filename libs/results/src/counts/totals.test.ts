import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Totals } from './totals.ts';

test('totals are exact, whatever is added and whenever they are read', () => {
  const count = fc.oneof(fc.nat(1000), fc.maxSafeNat(), fc.constant(Number.MAX_SAFE_INTEGER));
  const cells = fc.array(fc.tuple(count, count), { maxLength: 4 }).map((pairs) => pairs.flat());
  fc.assert(
    fc.property(fc.array(fc.record({ bins: cells, asks: fc.boolean() })), (added) => {
      const totals = new Totals(2);
      const expected = [0n, 0n];
      for (const { bins, asks } of added) {
        totals.add(bins, Math.max(0, ...bins));
        for (const [i, bin] of bins.entries()) expected[i % 2]! += BigInt(bin);
        if (asks) assert.deepEqual([...totals.sums], expected);
      }
      assert.deepEqual([...totals.sums], expected);
    }),
  );
});
