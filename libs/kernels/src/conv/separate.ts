import type { Matrix } from './matrix.ts';

/** Two lines whose products are the entries of a matrix: entry (i, j) is vertical[i] * horizontal[j]. */
export interface Factors {
  readonly vertical: readonly number[];
  readonly horizontal: readonly number[];
}

/**
 * Relative tolerance for an outer product: its rounding to float64 is off by 2^-53, and even a thousand times as much
 * does not show in float32 results.
 */
const tolerance = 2 ** -40;

/** The factors of a matrix that is an outer product, integers if its entries are integers; otherwise undefined. */
export function separate(matrix: Matrix): Factors | undefined {
  const entries = matrix.flat();
  const largest = entries.reduce((at, entry, i) => (Math.abs(entry) > Math.abs(entries[at]!) ? i : at), 0);
  const [row, column] = [Math.floor(largest / matrix.length), largest % matrix.length];
  const pivot = entries[largest]!;
  if (pivot === 0) return undefined;
  const isInteger = entries.every(Number.isInteger);
  // Integer factors of integers: one line without a common divisor; all rows are multiples of it.
  const divisor = isInteger ? matrix[row]!.reduce(greatestCommonDivisor) : 1;
  const horizontal = matrix[row]!.map((entry) => entry / divisor);
  const vertical = matrix.map((line) => (line[column]! / pivot) * divisor);
  const limit = isInteger ? 0 : tolerance * Math.abs(pivot);
  const factors = { vertical: isInteger ? vertical.map(Math.round) : vertical, horizontal };
  const product = outerProduct(factors.vertical, factors.horizontal).flat();
  return product.every((entry, i) => Math.abs(entry - entries[i]!) <= limit) ? factors : undefined;
}

/** The matrix of the products of two lines. */
export function outerProduct(vertical: readonly number[], horizontal: readonly number[]): number[][] {
  return vertical.map((v) => horizontal.map((h) => v * h));
}

function greatestCommonDivisor(a: number, b: number): number {
  let [x, y] = [Math.abs(a), Math.abs(b)];
  while (y !== 0) [x, y] = [y, x % y];
  return x;
}
