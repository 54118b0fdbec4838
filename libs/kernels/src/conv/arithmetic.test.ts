import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Arithmetic } from './arithmetic.ts';
import { conv } from './conv.ts';
import { outerProduct, separate } from './separate.ts';
import { convArbitrary } from './testing/arbitrary.ts';

const of = (given: Record<string, string>): Arithmetic => conv.parse(conv.complete(given)).arithmetic.u8;
const matrix = (side: number, entry: (i: number, j: number) => number): string =>
  JSON.stringify(Array.from({ length: side }, (_, i) => Array.from({ length: side }, (_, j) => entry(i, j))));

const cases: [given: Record<string, string>, kind: Arithmetic['kind'], isSeparable?: boolean][] = [
  [{ kernel: 'sobel' }, 'magnitude'],
  [{ kernel: 'prewitt', as: 'u8' }, 'magnitude'],
  [{ kernel: 'sobel-x', as: 'i16' }, 'sum', false],
  [{ kernel: 'log-5', as: 'u8' }, 'sum', false],
  [{ kernel: 'gaussian-21' }, 'sum', true],
  [{ kernel: 'gaussian-3' }, 'sum', false],
  [{ kernel: 'gaussian-21', as: 'u8' }, 'exact'],
  [{ kernel: 'box-5' }, 'sum', true],
  [{ kernel: 'box-5', as: 'i16' }, 'exact'],
  [{ matrix: matrix(5, (i, j) => (i + 1) * (j - 2)) }, 'sum', true],
  [{ matrix: matrix(5, (i, j) => Math.sin(i) * Math.cos(j)) }, 'sum', true],
  [{ matrix: matrix(5, (i, j) => i + j) }, 'sum', false],
  // 25 * 2600 * 255 is below 2^24, 25 * 2700 * 255 is not, and 25 * 90000 * 255 is above 2^29.
  [{ matrix: matrix(5, () => 2600), as: 'i16' }, 'sum', true],
  [{ matrix: matrix(5, () => 2700), as: 'i16' }, 'exact'],
  [{ matrix: matrix(5, () => 2700) }, 'exact'],
  [{ matrix: matrix(5, () => 90_000) }, 'sum', true],
  [{ matrix: matrix(3, () => 0.1), as: 'u8' }, 'exact'],
  [{ matrix: matrix(3, () => 0), as: 'u8' }, 'sum', false],
];

test('each convolution is computed in the cheapest way that is exact enough', () => {
  for (const [given, kind, isSeparable] of cases) {
    const arithmetic = of(given);
    assert.equal(arithmetic.kind, kind, JSON.stringify(given));
    if (arithmetic.kind === 'sum') assert.equal(arithmetic.factors !== undefined, isSeparable, JSON.stringify(given));
  }
});

test('exact sums fit two words of 32 bits, the lower one for 12 bits of each tap', () => {
  fc.assert(
    fc.property(convArbitrary, fc.double({ min: 1e-3, max: 2e6, noNaN: true }), ({ parameters, weights }, size) => {
      // The same matrix, scaled to have `size` as its sum of absolute values, unless that is 0.
      const sum = weights[0]!.flat().reduce((total, weight) => total + Math.abs(weight), 0);
      const scaled = weights[0]!.map((row) => row.map((weight) => (sum > 1e-6 ? (weight / sum) * size : 0)));
      const arithmetic = of({ matrix: JSON.stringify(scaled), as: parameters.as === 'f32' ? 'u8' : parameters.as! });
      if (arithmetic.kind !== 'exact') return;
      const { taps, shift } = arithmetic;
      assert.ok(shift >= 13 && shift <= 34);
      for (const isOn of [(tap: number) => tap > 0, (tap: number) => tap < 0, () => true]) {
        const lit = taps.filter(isOn);
        const lower = lit.reduce((total, tap) => total + 255 * (tap - 4096 * Math.floor(tap / 4096)), 0);
        const upper = lit.reduce((total, tap) => total + 255 * Math.floor(tap / 4096), 0);
        assert.ok(lower < 2 ** 30 && Math.abs(upper) < 2 ** 30 + 2 ** 19);
      }
    }),
  );
});

test('factors of an outer product of integers are integers, with the same product', () => {
  const line = fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 5, maxLength: 5 });
  fc.assert(
    fc.property(line, line, (vertical, horizontal) => {
      const product = outerProduct(vertical, horizontal);
      const factors = separate(product);
      if (product.flat().every((entry) => entry === 0)) {
        assert.equal(factors, undefined);
        return;
      }
      assert.ok([...factors!.vertical, ...factors!.horizontal].every(Number.isInteger));
      const back = outerProduct(factors!.vertical, factors!.horizontal);
      assert.ok(back.every((row, i) => row.every((entry, j) => entry - product[i]![j]! === 0)));
    }),
  );
});

test('a matrix that differs from an outer product in one entry has no factors', () => {
  const product = outerProduct([1, 2, 3], [4, 5, 6]);
  product[2]![2]! += 1;
  assert.equal(separate(product), undefined);
  assert.equal(separate(product.map((row) => row.map((entry) => entry / 7))), undefined);
});
