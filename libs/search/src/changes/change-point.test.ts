import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { changePoint } from './change-point.ts';

test('the split has the least sum of distances of all splits', () => {
  const distances = fc.array(fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 9 })), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(distances, (pairs) => {
      const costOf = (split: number): number => pairs.reduce((sum, [was, is], i) => sum + (i < split ? was : is), 0);
      const found = changePoint(
        pairs.map(([was]) => was),
        pairs.map(([, is]) => is),
      );
      const costs = [...pairs.keys(), pairs.length].map(costOf);
      assert.equal(costOf(found), Math.min(...costs));
    }),
  );
});
