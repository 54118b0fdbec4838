import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { zigzag } from '../frame/zigzag.ts';
import { inverseDct } from './inverse-dct.ts';

/** The inverse DCT by its definition (ITU T.81, A.3.3), before 128 is added. */
function definedPixel(coefficients: Int32Array, x: number, y: number): number {
  let sum = 0;
  for (let v = 0; v < 8; v++) {
    for (let u = 0; u < 8; u++) {
      const scale = (u === 0 ? Math.SQRT1_2 : 1) * (v === 0 ? Math.SQRT1_2 : 1);
      const wave = Math.cos(((2 * x + 1) * u * Math.PI) / 16) * Math.cos(((2 * y + 1) * v * Math.PI) / 16);
      sum += scale * coefficients[8 * v + u]! * wave;
    }
  }
  return sum / 4;
}

function transform(values: Record<number, number>): { isFine: boolean; pixels: Uint8Array } {
  const coefficients = new Int32Array(64);
  for (const [place, value] of Object.entries(values)) coefficients[Number(place)] = value;
  const pixels = new Uint8Array(64);
  return { isFine: inverseDct(coefficients, pixels), pixels };
}

test('pixels follow the definition, except for rounding', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -60, max: 60 }), { minLength: 64, maxLength: 64 }), (values) => {
      const coefficients = Int32Array.from(values);
      const pixels = new Uint8Array(64);
      assert.ok(inverseDct(coefficients, pixels));
      for (let i = 0; i < 64; i++) {
        const defined = Math.min(255, Math.max(0, definedPixel(coefficients, i % 8, i >> 3) + 128));
        assert.ok(Math.abs(pixels[i]! - defined) <= 1, `${pixels[i]} for ${defined}`);
      }
    }),
    { numRuns: 100 },
  );
});

test('a block with only a DC is flat: an eighth of it plus 128', () => {
  for (const [dc, pixel] of [
    [0, 128],
    [800, 228],
    [-1024, 0],
    [3000, 255],
    [-3000, 0],
  ] as const) {
    const { isFine, pixels } = transform({ 0: dc });
    assert.ok(isFine && pixels.every((value) => value === pixel), String(dc));
  }
});

test('numbers beyond the bounds are reported', () => {
  // A pixel of at most 511 before 128 is added.
  assert.ok(transform({ 0: 4091 }).isFine);
  assert.ok(!transform({ 0: 4092 }).isFine);
  // A result of the columns of at least -16,383, which is four times a DC.
  assert.ok(transform({ 0: -4095 }).isFine);
  assert.ok(!transform({ 0: -4096 }).isFine);
  // A coefficient alone.
  assert.ok(!transform({ 63: 16_384 }).isFine);
  // Results of the columns that do not show in the pixels: equal ones, which the row transform subtracts.
  assert.ok(!transform({ 0: 5000, 32: -5000 }).isFine);
});

test('places in zig-zag order begin and end as the format defines', () => {
  assert.deepEqual(zigzag.slice(0, 10), [0, 1, 8, 16, 9, 2, 3, 10, 17, 24]);
  assert.deepEqual(zigzag.slice(-5), [54, 47, 55, 62, 63]);
  assert.equal(new Set(zigzag).size, 64);
});
