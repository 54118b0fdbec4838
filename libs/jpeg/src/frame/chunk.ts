import { aheadBytes, chunkBytes } from './passes.ts';

/** A chunk's bytes of data as decoders read them, without stuffed bytes and markers. */
export interface JpegChunk {
  /** The chunk's bytes, the first in the highest bits, then up to 4 bytes of the chunks after it, then zeros. */
  words: Uint32Array;
  /** The number of the chunk's own bytes. */
  length: number;
  /**
   * A bit for each byte, beginning with the lowest bit of the first word: a restart marker, or the end, is in front of
   * that byte. Restart markers before `length` belong to this chunk, later ones to the next chunk.
   */
  marks: Uint32Array;
  /** The index of the byte before which the data ends; `noEnd` if it does not end here. */
  end: number;
  /** The number of the chunk's first restart marker, 0 to 7. */
  firstRestart: number;
  /** Markers are out of order, or too few following bytes were found. */
  isOdd: boolean;
}

export const noEnd = 255;
/** Bytes after a chunk that are searched for following bytes; more are only needed if there are many fill bytes. */
export const bytesAhead = 32;
/** Words of `marks`: the end may be after the last byte. */
export const markWords = Math.ceil((chunkBytes + aheadBytes + 1) / 32);

/**
 * The state of a decoder at the end of a chunk. Bits 0 to 7: how many bits of the next chunk it has read. Bits 8 to 13:
 * the next coefficient of the block (0 is the DC). Bits 16 to 19: the block of the MCU.
 */
export const packState = (over: number, coefficient: number, block: number): number =>
  over | (coefficient << 8) | (block << 16);
export const unpackState = (state: number): { over: number; coefficient: number; block: number } => ({
  over: state & 255,
  coefficient: (state >> 8) & 63,
  block: state >> 16,
});
