import type { PlaneTarget } from '@halogrid/imaging';
import type { ColourLayout, JpegBatchLayout } from '@halogrid/jpeg';
import type { CaptureTime } from '@halogrid/sources/capture-time';

/** How much is read at most. */
export interface JpegLimits {
  /** Bytes of files. */
  bytes: number;
  /** Bytes of planes that they decode to, with the chroma that colours are made of. */
  planesBytes: number;
  /** Bytes of results. */
  results: ResultSpace;
  /** Pixels that both sides of a picture have at least; cores refuse smaller ones. */
  minSide: number;
  /** What they are decoded to. */
  channels: PlaneTarget['channels'];
}

/** Bytes that the results of images take, `most` of a batch, which their size alone decides. */
export interface ResultSpace {
  most: number;
  ofImage: number;
  ofRow: number;
  ofPixel: number;
}

/** A batch that was read. */
export interface EncodedBatch {
  /** So many of the files were looked at, the first ones; the others found no room. */
  done: number;
  /** The files that a device may decode, or their components; where their planes go is not said yet. */
  layout: JpegBatchLayout;
  /** Where colours are wanted. */
  colours: ColourLayout | undefined;
  /** Where the last of them ends in memory. */
  filesBytes: number;
  /** Four words for each of them: which it is of those asked for, its bytes, its width and its height. */
  taken: Uint32Array<ArrayBuffer>;
  /** When pictures were taken, by which of the files they are; those that do not say are not there. */
  captured: ReadonlyMap<number, CaptureTime>;
}

/** Words of a file in `taken`. */
export const takenWords = 4;
