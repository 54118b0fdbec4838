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
  ['of two at work each has half', 800, [400, 400], [400, 400]],
  ['one that is idle has what it needs to begin', 800, [700, 0], [700, 100]],
  ['one with little to do leaves the rest', 800, [700, 100], [600, 200]],
  ['of four at work each has a quarter', 800, [200, 200, 200, 200], [200, 200, 200, 200]],
  ['three that are idle', 1600, [1000, 0, 0, 0], [1300, 100, 100, 100]],
  ['one that begins has twice what it used, up to its share', 800, [700, 150], [500, 300]],
  ['where nobody has anything, all can begin', 800, [0, 0], [100, 100]],
];

for (const [what, total, peaks, expected] of cases) {
  test(`credit: ${what}`, () => assert.deepEqual(shares(total, ...peaks), expected));
}

test('never more than there is, something for each, and an equal share for each that wants it', () => {
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
