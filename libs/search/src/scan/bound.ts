/**
 * How far a figure may be off, at most: constant + root * sqrt(apart) + share * apart. A figure says how far two
 * vectors are apart, 0 if they are alike.
 */
export interface Bound {
  readonly constant: number;
  readonly root: number;
  readonly share: number;
}

/** The bound of exact sums of whole numbers that are divided by a mass in float64. */
export const wholeBound: Bound = { constant: 2 ** -40, root: 0, share: 0 };

/** How far vectors with that figure are apart, at most. */
export function mostApart({ constant, root, share }: Bound, figure: number): number {
  return figure + constant + root * Math.sqrt(figure) + share * figure;
}

/** The largest figure of vectors that are `apart` or less; infinite if the bound says nothing. */
export function largestFigure({ constant, root, share }: Bound, apart: number): number {
  if (share >= 1) return Number.POSITIVE_INFINITY;
  // The largest x with x - bound(x) = apart, which is a quadratic equation in its root.
  const rest = 1 - share;
  const most = (root + Math.sqrt(root * root + 4 * rest * (apart + constant))) / (2 * rest);
  return most * most * (1 + rounding);
}

/** The rounding of the few operations in float64 here. */
const rounding = 2 ** -40;
