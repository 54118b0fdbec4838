import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runs } from '@halogrid/testing';
import fc from 'fast-check';
import { compareNatural } from './natural-order.ts';

test('numbers compare by value, the rest by code unit', () => {
  const sorted = ['', '0', '00', '01', '1', '2', '10', '99999999999999999998', '99999999999999999999', 'A', 'a'];
  sorted.push('a-1', 'a1b', 'a1b2', 'a1b10', 'a2', 'a10', 'frame9.jpg', 'frame10.jpg', 'z', 'é');
  assert.deepEqual([...sorted].reverse().sort(compareNatural), sorted);
});

test('what comes before the unit to compare from does not count', () => {
  assert.ok(compareNatural('z9', 'a10', 1) < 0);
  assert.equal(compareNatural('xé', 'xé', 1), 0);
});

const name = fc.string({ unit: fc.constantFrom('0', '1', '2', '9', 'a', 'b', '-', 'é'), maxLength: 6 });

test('it is a total order in which only equal names are equal', () => {
  const sign = (a: string, b: string) => Math.sign(compareNatural(a, b));
  fc.assert(
    fc.property(name, name, name, (a, b, c) => {
      assert.equal(sign(a, b), -sign(b, a) + 0);
      assert.equal(sign(a, b) === 0, a === b);
      if (sign(a, b) < 0 && sign(b, c) < 0) assert.equal(sign(a, c), -1);
    }),
    { numRuns: runs(3_000) },
  );
});

test('numbers of any size are in the order of their values', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.bigInt({ min: 0n, max: 10n ** 30n }), (a, b) => {
      assert.equal(Math.sign(compareNatural(`f${a}.png`, `f${b}.png`)), a < b ? -1 : a > b ? 1 : 0);
    }),
  );
});
