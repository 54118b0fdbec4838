import { greatestInput, greatestPixel } from '../frame/bounds.ts';

/*
 * The accurate inverse DCT of libjpeg (jidctint): the transform of 8 of Loeffler, Ligtenberg and Moschytz, with 11 multiplications by constants
 * of 13 bits behind the point, first of the columns, then of the rows. The first leaves two bits behind the point.
 */

const constantBits = 13;
const betweenBits = 2;
const fixed = (value: number): number => Math.round(value * 2 ** constantBits);
const c = {
  c0298: fixed(0.298631336),
  c0390: fixed(0.390180644),
  c0541: fixed(0.5411961),
  c0765: fixed(0.765366865),
  c0899: fixed(0.899976223),
  c1175: fixed(1.175875602),
  c1501: fixed(1.50132111),
  c1847: fixed(1.847759065),
  c1961: fixed(1.96157056),
  c2053: fixed(2.053119869),
  c2562: fixed(2.562915447),
  c3072: fixed(3.072711026),
};

/**
 * Transforms a block of 64 dequantised coefficients, row by row, and writes its pixels to `to`, 0 to 255. Returns false where a number
 * leaves the bounds within which all decoders agree; the pixels then mean nothing.
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
      // A transform in two directions is 8 times as large.
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

/** The transform of 8, `constantBits` bits behind the point. */
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
  const turn = (x2 + x6) * c.c0541;
  const low = turn - x6 * c.c1847;
  const high = turn + x2 * c.c0765;
  const sum = (x0 + x4) * 2 ** constantBits;
  const difference = (x0 - x4) * 2 ** constantBits;
  const even = [sum + high, difference + low, difference - low, sum - high];

  const both = (x7 + x3 + x5 + x1) * c.c1175;
  const outer = (x7 + x1) * -c.c0899;
  const inner = (x5 + x3) * -c.c2562;
  const sevenThree = (x7 + x3) * -c.c1961 + both;
  const fiveOne = (x5 + x1) * -c.c0390 + both;
  const odd = [
    x1 * c.c1501 + outer + fiveOne,
    x3 * c.c3072 + inner + sevenThree,
    x5 * c.c2053 + inner + fiveOne,
    x7 * c.c0298 + outer + sevenThree,
  ];
  return [...even.map((value, i) => value + odd[i]!), ...even.map((value, i) => value - odd[i]!).toReversed()];
}
