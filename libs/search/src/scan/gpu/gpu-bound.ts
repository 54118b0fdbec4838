import { type Bound, wholeBound } from '../bound.ts';
import type { GpuProgramName } from './nearness-shader.ts';

/** Half the distance between float32 just above 1: the rounding of one operation, as a part of its result. */
const u = 2 ** -24;

/** The `constant` and the `root` of a bound, in multiples of u. */
const errors: Record<Exclude<GpuProgramName, 'shared'>, { constant: number; root: number }> = {
  absolute: { constant: 3, root: 0 },
  chiSquare: { constant: 0, root: 8 },
  roots: { constant: 0, root: 20 },
  directions: { constant: 0, root: 8 },
};

/** The errors of the float64 that define scores, and the squares of errors of u. */
const least = 2 ** -36;

/**
 * How far an estimate of a GPU may be off, for vectors of `length` counts, in whatever order it adds them up. WGSL
 * allows 2 u for the conversion of a count, u for a sum, a product and each float32 that is made here, 5 u for a
 * quotient, 10 u for a root and 4 u for one over a root. So shares p of a vector are off by 4 u p, their roots by 13 u
 * of themselves, and the query's q by u q; then
 *
 *   sum |p - q| / 2             by (4 u p + u q) / 2 summed up, which is 3 u at most,
 *   sum (p - q)^2 / (p + q) / 2 by 4 u |p - q| summed up, at most 8 u of the root of the figure (Cauchy and Schwarz),
 *   sum (p - q)^2 / 2           by (13 + 1) u |p - q| p likewise, 20 u of the root for roots, and 8 u for vectors of
 *                               length 1; that length itself is off by e = (length / 2 + 16) u, which makes e of
 *                               the figure and e^2 / 2,
 *
 * and all by (length + 16) u of the figure, since no term is below 0. Twice that is allowed.
 */
export function gpuBound(program: GpuProgramName, length: number): Bound {
  if (program === 'shared') return wholeBound;
  const { constant, root } = errors[program];
  const unitLength = program === 'directions' ? ((length / 2 + 16) * u) ** 2 : 0;
  return { constant: 2 * u * constant + unitLength + least, root: 2 * u * root, share: 2 * u * (1.5 * length + 32) };
}
