import { greatestInput, greatestPixel } from '../frame/bounds.ts';
import { betweenBits, dctConstants as c, constantBits } from '../frame/dct-constants.ts';

/*
 * The accurate inverse DCT of libjpeg (jidctint): the 8-point transform of Loeffler, Ligtenberg and Moschytz, with
 * constants of 13 fractional bits, first of the columns, then of the rows. The results of the columns have two
 * fractional bits.
 */

/**
 * Transforms a block of 64 dequantised coefficients, row by row, and writes its pixels to `to`, 0 to 255. Returns false
 * if a number exceeds the bounds within which all decoders agree; the pixels then have no meaning.
 */
export function inverseDct(coefficients: Int32Array, to: Uint8Array): boolean {
  let isFine = coefficients.every((value) => Math.abs(value) <= greatestInput);
  const between = new Int32Array(64);
  for (let column = 0; column < 8; column++) {
    const sums = transform(every8th(coefficients, column));
    for (const [row, sum] of sums.entries()) between[8 * row + column] = descale(sum, constantBits - betweenBits);
  }
  isFine &&= between.every((value) => Math.abs(value) <= greatestInput);
  for (let row = 0; row < 8; row++) {
    const sums = transform(between.subarray(8 * row, 8 * row + 8));
    for (const [column, sum] of sums.entries()) {
      // Transforming in two directions multiplies by 8.
      const pixel = descale(sum, constantBits + betweenBits + 3);
      isFine &&= pixel >= -greatestPixel - 1 && pixel <= greatestPixel;
      to[8 * row + column] = Math.min(255, Math.max(0, pixel + 128));
    }
  }
  return isFine;
}

const every8th = (values: Int32Array, first: number): Int32Array =>
  Int32Array.from({ length: 8 }, (_, i) => values[8 * i + first]!);

/** Rounded to the nearest integer, halves upwards. */
const descale = (value: number, bits: number): number => Math.floor((value + 2 ** (bits - 1)) / 2 ** bits);

/** The 8-point transform, with `constantBits` fractional bits. */
function transform(x: Int32Array): number[] {
  const [x0, x1, x2, x3, x4, x5, x6, x7] = x as unknown as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const turn = (x2 + x6) * c.C0541;
  const low = turn - x6 * c.C1847;
  const high = turn + x2 * c.C0765;
  const sum = (x0 + x4) * 2 ** constantBits;
  const difference = (x0 - x4) * 2 ** constantBits;
  const even = [sum + high, difference + low, difference - low, sum - high];

  const both = (x7 + x3 + x5 + x1) * c.C1175;
  const outer = (x7 + x1) * -c.C0899;
  const inner = (x5 + x3) * -c.C2562;
  const sevenThree = (x7 + x3) * -c.C1961 + both;
  const fiveOne = (x5 + x1) * -c.C0390 + both;
  const odd = [
    x1 * c.C1501 + outer + fiveOne,
    x3 * c.C3072 + inner + sevenThree,
    x5 * c.C2053 + inner + fiveOne,
    x7 * c.C0298 + outer + sevenThree,
  ];
  return [...even.map((value, i) => value + odd[i]!), ...even.map((value, i) => value - odd[i]!).toReversed()];
}
