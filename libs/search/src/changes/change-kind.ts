import type { CellShape } from './appearance.ts';

/**
 * What became of a view that changed in most of its cells:
 *   covered  all cells look alike now
 *   blurred  what told cells apart tells them apart still, and less of it is left
 *   turned   cells differ as before, each in another way
 */
export type ViewChange = 'covered' | 'blurred' | 'turned';

/** Of what told cells apart, so much is left in a covered view at most. Measured on drawn streets: covered 0.02 to 0.1, others above 0.3. */
const coveredRest = 0.2;

/** How much alike the structure before and after is at least where the view is the same one: blurred 0.6 and more, turned below 0.3. */
const sameView = 0.45;

/** Tells by how cells differ from their mean, before and after. Of fewer than four cells, nothing can be told. */
export function viewChange(before: Float32Array, after: Float32Array, shape: CellShape): ViewChange | undefined {
  if (shape.rows * shape.columns < 4) return undefined;
  const [was, is] = [differencesOf(before, shape), differencesOf(after, shape)];
  const [wasSize, isSize] = [Math.sqrt(product(was, was)), Math.sqrt(product(is, is))];
  if (isSize <= coveredRest * wasSize) return 'covered';
  return product(was, is) >= sameView * wasSize * isSize && isSize < wasSize ? 'blurred' : 'turned';
}

/** What each cell has more or less than the mean of all. */
function differencesOf(looks: Float32Array, { rows, columns, bins }: CellShape): Float64Array {
  const cells = rows * columns;
  const mean = new Float64Array(bins);
  for (let i = 0; i < looks.length; i++) mean[i % bins]! += looks[i]! / cells;
  return Float64Array.from(looks, (share, i) => share - mean[i % bins]!);
}

function product(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
