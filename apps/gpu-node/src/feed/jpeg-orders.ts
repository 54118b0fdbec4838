import type { PlaneTarget } from '@halogrid/imaging';
import type { ColourLayout, JpegBatchLayout } from '@halogrid/jpeg';
import type { CaptureTime } from '@halogrid/sources/capture-time';

/** The limits of a batch. */
export interface JpegLimits {
  /** Bytes of files. */
  bytes: number;
  /** Bytes of planes that the files decode to, with the chroma that colours are made from. */
  planesBytes: number;
  /** Bytes of results. */
  results: ResultSpace;
  /** The least pixels of each side of an image; cores refuse smaller images. */
  minSide: number;
  /** The channels to decode to. */
  channels: PlaneTarget['channels'];
}

/** Bytes of the results of images, which depend only on their size. `most`: in a batch. */
export interface ResultSpace {
  most: number;
  ofImage: number;
  ofRow: number;
  ofPixel: number;
}

/** A batch of JPEGs in memory. */
export interface EncodedBatch {
  /** The number of files that were looked at, from the first one on; the others had no room. */
  done: number;
  /** The files for the device, or their components. Their planes have no place yet. */
  layout: JpegBatchLayout;
  /** Defined if colours are wanted. */
  colours: ColourLayout | undefined;
  /** The end of the last file in memory. */
  filesBytes: number;
  /** Four words for each of them: its index among the requested files, its bytes, its width and its height. */
  taken: Uint32Array<ArrayBuffer>;
  /** Capture times, by index among the requested files; files without one are missing. */
  captured: ReadonlyMap<number, CaptureTime>;
  /** Sentences about pictures of a file that are not read, by index among the requested files. */
  mended: ReadonlyMap<number, string>;
}

/** Words per file in `taken`. */
export const takenWords = 4;
