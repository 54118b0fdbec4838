import type { CellShape } from './compare-cells.ts';

/**
 * How a view changed, if most of its cells did:
 *   turned   cells look different, each in another way
 *   blurred  all cells changed alike, and the differences between them can still be seen
 *   covered  all cells changed alike, and the differences between them are gone
 */
export type ViewChange = 'covered' | 'blurred' | 'turned';

/**
 * Cells changed alike if at least this part of the change is common to all: turned 0.05, blurred 0.66, covered 0.89
 * (measured).
 */
const alike = 0.3;

/**
 * The view is the same if the differences between cells resemble the earlier ones at least so much: blurred 0.34 to
 * 0.79, covered -0.2 to 0.05 (measured).
 */
const sameView = 0.2;

/**
 * Tells how a view changed, by how its cells differ from their mean, before and after. Undefined for fewer than four
 * cells.
 */
export function viewChange(before: Float32Array, after: Float32Array, shape: CellShape): ViewChange | undefined {
  const cells = shape.rows * shape.columns;
  if (cells < 4) return undefined;
  const change = Float64Array.from(after, (share, i) => share - before[i]!);
  const common = meanOfCells(change, shape);
  if (Math.sqrt((cells * product(common, common)) / product(change, change)) < alike) return 'turned';
  const [was, is] = [differencesOf(before, shape), differencesOf(after, shape)];
  const resemblance = product(was, is) / (Math.sqrt(product(was, was) * product(is, is)) || 1);
  return resemblance >= sameView ? 'blurred' : 'covered';
}

/** The difference of each cell from the mean of all. */
function differencesOf(looks: Float32Array, shape: CellShape): Float64Array {
  const mean = meanOfCells(looks, shape);
  return Float64Array.from(looks, (share, i) => share - mean[i % shape.bins]!);
}

function meanOfCells(values: ArrayLike<number>, { rows, columns, bins }: CellShape): Float64Array {
  const mean = new Float64Array(bins);
  for (let i = 0; i < values.length; i++) mean[i % bins]! += values[i]! / (rows * columns);
  return mean;
}

function product(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
