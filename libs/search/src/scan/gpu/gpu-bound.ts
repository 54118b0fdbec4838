import { integerBound } from '../nearness.ts';
import type { GpuProgramName } from './nearness-shader.ts';

/** Sums of counts are exact as long as they are below it: float32 has all whole numbers up to here. */
export const exactSums = 2 ** 24;

/**
 * How far the figures of a GPU may be off for vectors of `length` counts, whatever the order that it adds them in. With u = 2^-24,
 * WGSL allows 2 u for the conversion of a count, u for a sum, a product and each float32 that is made here, 5 u for a quotient
 * and 10 u for a root, and numbers too small for float32 to be 0. A sum of n terms, none below 0, is off by n u of itself at most.
 * So intersection is off by less than (n + 5) u, the affinity of Hellinger by (n + 15) u, chi-square by (n + 18) u, where a change
 * of a share counts twice, and cosine by (1.5 n + 22) u. What two such errors make together is far below the rest of the bound.
 */
export const gpuBound = (program: GpuProgramName, length: number): number =>
  program === 'shared' ? integerBound : (2 * length + 64) * 2 ** -24;
