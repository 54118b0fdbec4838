/**
 * Which values each bin of a histogram counts: bin b those from `width * (first + b)` up to, and without, the next
 * bin's. The first bin and the last one count what is beyond them, too.
 */
export interface Binning {
  /** The lower end of the first bin, in widths: an integer. */
  readonly first: number;
  /** A power of two, so that a value's bin is found without rounding. */
  readonly width: number;
  /**
   * Whether every device counts the same: values are integers. Otherwise one near the end of a bin may be in the next.
   */
  readonly isExact: boolean;
  /** What results of pixels of 16 bits are divided by before they are counted: 257, or 1. */
  readonly deepScale: number;
  /** Whether a bin's results are one integer, which is its lower end. */
  readonly isOneValue: boolean;
}
