/**
 * An exact ratio: a whole number of 0 or more, divided by one above 0. They are numbers if both are at most 2^53 - 1,
 * or else bigints.
 */
export type Fraction = { numerator: number; denominator: number } | { numerator: bigint; denominator: bigint };

/** Below 0 if `a` is smaller, above 0 if `b` is, 0 if they are equal. */
export function compareFractions(a: Fraction, b: Fraction): number {
  if (a.denominator === b.denominator) return order(a.numerator, b.numerator);
  return order(BigInt(a.numerator) * BigInt(b.denominator), BigInt(b.numerator) * BigInt(a.denominator));
}

const order = (a: number | bigint, b: number | bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * The float64 nearest to the fraction; if two are equally near, the even one. So fractions and their floats have the
 * same order.
 */
export function nearestFloat({ numerator, denominator }: Fraction): number {
  // IEEE 754 rounds a division of whole numbers that floats hold in the same way.
  if (typeof numerator === 'number') return numerator / Number(denominator);
  const divisor = BigInt(denominator);
  if (numerator === 0n) return 0;
  const shift = BigInt(Math.max(0, 66 + bits(divisor) - bits(numerator)));
  const quotient = (numerator << shift) / divisor;
  // It only matters that something is cut off: it is far below the bits that a float keeps.
  const isCut = quotient * divisor !== numerator << shift;
  return Number(isCut ? quotient | 1n : quotient) * 2 ** -Number(shift);
}

const bits = (value: bigint): number => value.toString(16).length * 4;

/** The greatest common divisor of two whole numbers above 0. */
export function commonDivisor(a: number, b: number): number {
  let [larger, smaller] = [a, b];
  while (smaller !== 0) [larger, smaller] = [smaller, larger % smaller];
  return larger;
}
