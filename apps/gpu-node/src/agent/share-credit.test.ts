import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { shareCredit } from './share-credit.ts';

const shares = (total: number, ...peaks: number[]): number[] =>
  shareCredit(
    total,
    peaks.map((peakBytes) => ({ peakBytes })),
  );

const cases: [what: string, total: number, peaks: number[], shares: number[]][] = [
  ['one coordinator has all of it', 800, [0], [800]],
  ['two that are busy have half each', 800, [400, 400], [400, 400]],
  ['one that is idle has what it needs to begin', 800, [700, 0], [700, 100]],
  ['one with little to do leaves the rest', 800, [700, 100], [600, 200]],
  ['four that are busy have a quarter each', 800, [200, 200, 200, 200], [200, 200, 200, 200]],
  ['three that are idle', 1600, [1000, 0, 0, 0], [1300, 100, 100, 100]],
  ['one that begins has twice what it used, up to its share', 800, [700, 150], [500, 300]],
  ['if none has leased anything, all can begin', 800, [0, 0], [100, 100]],
];

for (const [what, total, peaks, expected] of cases) {
  test(`credit: ${what}`, () => assert.deepEqual(shares(total, ...peaks), expected));
}

test('the sum is never more than there is, each has something, and each that wants it has an equal share', () => {
  const total = fc.integer({ min: 1e6, max: 2 ** 40 });
  const peaks = fc.array(fc.double({ min: 0, max: 2, noNaN: true }), { minLength: 2, maxLength: 8 });
  fc.assert(
    fc.property(total, peaks, (bytes, parts) => {
      const given = shares(bytes, ...parts.map((part) => part * bytes));
      assert.ok(given.reduce((sum, share) => sum + share, 0) <= bytes);
      const equal = Math.floor(bytes / parts.length);
      for (const [i, share] of given.entries()) {
        assert.ok(share >= Math.floor(equal / 4));
        if (parts[i]! * 2 * bytes >= equal) assert.ok(share >= equal - 1);
      }
    }),
  );
});
