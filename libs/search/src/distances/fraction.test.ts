import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { commonDivisor, compareFractions, nearestFloat } from './fraction.ts';

const whole = fc.bigInt({ min: 1n, max: 2n ** 100n });

/** The exact value of a float, as numerator over a power of two. */
function exactly(value: number): { numerator: bigint; denominator: bigint } {
  let [scaled, exponent] = [value, 0];
  while (!Number.isInteger(scaled)) [scaled, exponent] = [scaled * 2, exponent + 1];
  return { numerator: BigInt(scaled), denominator: 2n ** BigInt(exponent) };
}

test('no float is nearer to a fraction than its nearest', () => {
  fc.assert(
    fc.property(whole, whole, (a, b) => {
      const fraction = { numerator: a < b ? a : b, denominator: a < b ? b : a };
      const nearest = nearestFloat(fraction);
      const distanceTo = (value: number): { numerator: bigint; denominator: bigint } => {
        const { numerator, denominator } = exactly(value);
        const difference = numerator * fraction.denominator - fraction.numerator * denominator;
        return {
          numerator: difference < 0n ? -difference : difference,
          denominator: denominator * fraction.denominator,
        };
      };
      const step = 2 ** (Math.floor(Math.log2(nearest)) - 53);
      for (const other of [nearest - step, nearest + step, nearest - 2 * step, nearest + 2 * step]) {
        if (other >= 0) assert.ok(compareFractions(distanceTo(nearest), distanceTo(other)) <= 0);
      }
    }),
  );
});

test('fractions are compared as numbers and as large ones alike', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.integer({ min: 1 }), fc.integer({ min: 1 }), (a, b, c, d) => {
      const [one, other] = [
        { numerator: a, denominator: c },
        { numerator: b, denominator: d },
      ];
      const large = { numerator: BigInt(b) * 2n ** 80n, denominator: BigInt(d) * 2n ** 80n };
      assert.equal(compareFractions(one, other), Math.sign(Number(BigInt(a) * BigInt(d) - BigInt(b) * BigInt(c))));
      assert.equal(compareFractions(one, large), compareFractions(one, other));
    }),
  );
  assert.equal(nearestFloat({ numerator: 0n, denominator: 2n ** 70n }), 0);
  assert.equal(commonDivisor(228404, 456808), 228404);
});
