import type { Rect, Sampling, Size } from '@halogrid/geometry';

/**
 * The planes of an image in memory, and the part of them that a kernel computes. Pixel (x, y) of channel c is at byte
 * `offset + c * planeBytes + y * stride + x * b`, with b = 1, or b = 2 for 16-bit pixels, which are little-endian;
 * `offset` is a multiple of b, `stride` and `planeBytes` are multiples of 16 b.
 */
export interface PlaneItem {
  /** Byte offset of the first channel's first pixel. */
  offset: number;
  /** Bytes from one row to the next. */
  stride: number;
  /** Bytes from one channel to the next. */
  planeBytes: number;
  /** Size of a stored plane in pixels. */
  stored: Size;
  /** The pixels to compute, in the stored plane's coordinates. */
  out: Rect;
  /**
   * The pixels that have a result and count, in the stored plane's coordinates, inside `out`. Elsewhere the result is
   * 0.
   */
  valid: Rect;
  /**
   * The pixels of `out` that are wanted in the dense result. A kernel may leave out the others; the result then says
   * so.
   */
  sampling?: Sampling;
}

/** The result of a kernel, or a pipeline, for one item. */
export interface ItemResult {
  /** Pixels counted in each channel. If results are pairs, the sum of the first channel's bins. */
  counted: number;
  /**
   * The counts of every channel, one channel after another; of a pipeline, the same for each cell in turn. Empty if
   * there is no histogram.
   */
  bins: Uint32Array;
  /** The dense result of `out`, or of its sampled pixels, if it was requested. */
  map?: DenseResult;
}

/** Bands of `out.height` rows, little-endian samples of the kernel's output type. The first sample is at byte 0. */
export interface DenseResult {
  bytes: Uint8Array;
  /** Bytes from one row to the next. */
  stride: number;
  /** Bytes from one band to the next. */
  bandBytes: number;
  /** Whether pixels that are not sampled were left out. */
  isSampled?: true;
}

/** Pixels that a GPU lane loads at once: 16 or 32 bytes. */
export const lanePixels = 16;
