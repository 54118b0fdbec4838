const double = new Float64Array(1);
/** The same bits, the low word first: every machine with Node.js is little-endian. */
const words = new Uint32Array(double.buffer);

/**
 * The natural logarithm of a normal float64 above 0, within two units of the last place. Math.log may differ from
 * engine to engine; this is made of operations that IEEE 754 rounds everywhere alike.
 */
export function naturalLog(value: number): number {
  double[0] = value;
  let exponent = (words[1]! >>> 20) - 1023;
  words[1] = (words[1]! & 0xfffff) | 0x3ff00000;
  let mantissa = double[0];
  // From 0.707 to 1.414, so that the series converges fast.
  if (mantissa > Math.SQRT2) {
    mantissa /= 2;
    exponent++;
  }
  // ln m = 2 (s + s³ / 3 + s⁵ / 5 + …) with s = (m - 1) / (m + 1), at most 0.172 in size.
  const s = (mantissa - 1) / (mantissa + 1);
  const square = s * s;
  let series = 0;
  for (let power = 23; power >= 3; power -= 2) series = (series + 1 / power) * square;
  return exponent * Math.LN2 + 2 * s * (1 + series);
}
