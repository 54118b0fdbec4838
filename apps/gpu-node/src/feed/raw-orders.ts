/** The limits of a batch. */
export interface RawLimits {
  /** Bytes of planes. */
  planesBytes: number;
  /** The least pixels of each side of an image; cores refuse smaller images. */
  minSide: number;
}

/** A batch of raw frames in memory. */
export interface RawBatch {
  /** The number of files that were looked at, from the first one on; the others had no room. */
  done: number;
  /**
   * Four words for each frame that was read: its index among the requested files, its width, its height, and the first
   * byte of its plane.
   */
  taken: Uint32Array<ArrayBuffer>;
  /** Bytes read of files. */
  inputBytes: number;
}

/** Words per frame in `taken`. */
export const rawWords = 4;
