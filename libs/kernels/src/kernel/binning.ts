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
