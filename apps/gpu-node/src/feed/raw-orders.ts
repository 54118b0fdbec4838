/** How much is read at most. */
export interface RawLimits {
  /** Bytes of planes. */
  planesBytes: number;
  /** Pixels that both sides of a picture have at least; cores refuse smaller ones. */
  minSide: number;
}

/** A batch of raw frames that was read. */
export interface RawBatch {
  /** So many of the files were looked at, the first ones; the others found no room. */
  done: number;
  /**
   * Four words for each frame that was read: which it is of those asked for, its width, its height, and where its plane
   * begins.
   */
  taken: Uint32Array<ArrayBuffer>;
  /** Read of files. */
  inputBytes: number;
}

/** Words of a frame in `taken`. */
export const rawWords = 4;
