/**
 * How far a figure may be off that says how far two vectors are apart, 0 where they are alike: constant + root *
 * sqrt(apart) + share * apart at most.
 */
export interface Bound {
  readonly constant: number;
  readonly root: number;
  readonly share: number;
}

/** That of sums of whole numbers that are exact, and divided by a mass in float64. */
export const wholeBound: Bound = { constant: 2 ** -40, root: 0, share: 0 };

/** How far vectors of that figure are apart at most. */
export function mostApart({ constant, root, share }: Bound, figure: number): number {
  return figure + constant + root * Math.sqrt(figure) + share * figure;
}

/** The largest figure of vectors that are `apart` or less; infinite where the bound says nothing. */
export function largestFigure({ constant, root, share }: Bound, apart: number): number {
  if (share >= 1) return Number.POSITIVE_INFINITY;
  // The largest x with x - bound(x) = apart, a quadratic equation of its root.
  const rest = 1 - share;
  const most = (root + Math.sqrt(root * root + 4 * rest * (apart + constant))) / (2 * rest);
  return most * most * (1 + rounding);
}

/** The rounding of the few operations in float64 here. */
const rounding = 2 ** -40;
