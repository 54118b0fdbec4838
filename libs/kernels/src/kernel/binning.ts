import type { PixelType } from '@halogrid/geometry';

/**
 * The values that each bin of a histogram counts: bin b counts values from `width * (first + b)` up to, but without,
 * the lower end of the next bin. The first and the last bin also count all values beyond them.
 */
export interface Binning {
  /** The lower end of the first bin, in widths: an integer. */
  readonly first: number;
  /** A power of two, so that finding a value's bin needs no rounding. */
  readonly width: number;
  /**
   * Whether every device counts the same, because values are integers. Otherwise a value near the end of a bin may be
   * counted in the next.
   */
  readonly isExact: boolean;
  /** The divisor of results of 16-bit pixels before counting: 257, or 1. */
  readonly deepScale: number;
  /** Whether each bin counts a single integer, its lower end. */
  readonly isOneValue: boolean;
}

/** The width of a bin for results of pixels of type `reads`. */
export function stepOf({ width, deepScale }: Binning, reads: PixelType): number {
  return reads === 'u8' ? width : width * deepScale;
}

/** Which of `bins` bins counts a result: the first or the last bin if the result is beyond all bins. */
export function binOf(value: number, bins: number, binning: Binning, reads: PixelType): number {
  return Math.min(Math.max(Math.floor(value / stepOf(binning, reads)) - binning.first, 0), bins - 1);
}
