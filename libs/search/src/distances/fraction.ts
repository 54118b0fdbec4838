/**
 * An exact ratio of two whole numbers, 0 or more and above 0: numbers where both are at most 2^53 - 1, else bigints.
 */
export type Fraction = { numerator: number; denominator: number } | { numerator: bigint; denominator: bigint };

/** Below 0 where `a` is the smaller one, above 0 where `b` is, 0 where they are equal. */
export function compareFractions(a: Fraction, b: Fraction): number {
  if (a.denominator === b.denominator) return order(a.numerator, b.numerator);
  return order(BigInt(a.numerator) * BigInt(b.denominator), BigInt(b.numerator) * BigInt(a.denominator));
}

const order = (a: number | bigint, b: number | bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * The float64 nearest to it; of two that are equally near, the even one. So the order of fractions is that of their
 * floats.
 */
export function nearestFloat({ numerator, denominator }: Fraction): number {
  // Division of whole numbers that floats hold is rounded like that by IEEE 754.
  if (typeof numerator === 'number') return numerator / Number(denominator);
  const divisor = BigInt(denominator);
  if (numerator === 0n) return 0;
  const shift = BigInt(Math.max(0, 66 + bits(divisor) - bits(numerator)));
  const quotient = (numerator << shift) / divisor;
  // What is cut off matters only as being more than nothing: it is far below the bits that a float keeps.
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
