import { aheadBytes, chunkBytes } from './passes.ts';

/** Data bytes of a chunk as decoders read them, without what is stuffed between them and without markers. */
export interface JpegChunk {
  /**
   * Bytes one after another, the first in the highest bits, and those of the next chunks that follow, 4 at most; then
   * zeros.
   */
  words: Uint32Array;
  /** Bytes of its own. */
  length: number;
  /**
   * A bit for each byte, the lowest bit of the first word for the first: a restart marker, or the end, is in front of
   * it. Restart markers before `length` are its own, those from there on belong to the next chunk.
   */
  marks: Uint32Array;
  /** The byte in front of which the data ends; `noEnd` where it does not. */
  end: number;
  /** The number of its first restart marker, 0 to 7. */
  firstRestart: number;
  /** Markers are out of order, or too few of the bytes that follow were found. */
  isOdd: boolean;
}

export const noEnd = 255;
/** Bytes behind a chunk that are looked at for those that follow it; more are fill bytes. */
export const bytesAhead = 32;
/** Words of `marks`: the end may be behind the last byte. */
export const markWords = Math.ceil((chunkBytes + aheadBytes + 1) / 32);

/**
 * Where a decoder is in a chunk when it comes to the next one: in bits 0 to 7 how many bits of that it has had, in 8 to
 * 13 the coefficient of the block that comes next (0 is the DC), in 16 to 19 which block of an MCU it is in.
 */
export const packState = (over: number, coefficient: number, block: number): number =>
  over | (coefficient << 8) | (block << 16);
export const unpackState = (state: number): { over: number; coefficient: number; block: number } => ({
  over: state & 255,
  coefficient: (state >> 8) & 63,
  block: state >> 16,
});
