import type { Pipeline, Size } from '@halogrid/kernels';

/** One sentence where an image is smaller than a kernel of the pipeline. */
export function tooSmall({ width, height }: Size, { minSide }: Pipeline): string | undefined {
  if (Math.min(width, height) >= minSide) return undefined;
  return `A ${width} x ${height} image is smaller than the kernel, which needs ${minSide} pixels a side`;
}
