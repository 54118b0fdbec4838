import { Best } from '../../ranking/best.ts';

/**
 * The least estimate with which a vector may be among the best `top`: at least so many are estimated at the `top`-th largest of
 * `estimates` or above, so their true figures are at most `bound` below it, and the estimate of whoever is nearer than one of them
 * at most `bound` below that. Everything may, where there are fewer estimates than `top`.
 */
export function leastEstimate(estimates: Iterable<number>, top: number, bound: number): number {
  const best = new Best<number>(top, (a, b) => b - a);
  let worst = Number.NEGATIVE_INFINITY;
  for (const estimate of estimates) if (estimate > worst && best.offer(estimate)) worst = best.worst ?? worst;
  return worst - 2 * bound;
}

/** What a GPU says of a vector that is not asked for, or counts nothing: NOTHING of near.wgsl. */
export const isNothing = (estimate: number): boolean => estimate < -1e38;
