import type { JpegFrame } from '@halogrid/jpeg';
import type { SourceAccess } from '@halogrid/sources';
import type { CaptureTime } from '@halogrid/sources/capture-time';

/** What a thread is told when it starts. */
export interface JpegThreadSetup {
  access: SourceAccess;
}

/** A file as it is asked for. */
export interface AskedFile {
  uri: string;
  /** What it was when the job was planned, where that is known. */
  version?: string | undefined;
}

/** How much is read at most. */
export interface JpegLimits {
  /** Bytes of files. */
  bytes: number;
  /** Bytes of planes that they decode to. */
  planesBytes: number;
}

/** A batch to be read, into memory that is known by its address. */
export interface JpegOrder {
  files: readonly AskedFile[];
  limits: JpegLimits;
  address: bigint;
}

/** A batch that was read. */
export interface EncodedBatch {
  /** So many of the files were looked at, the first ones; the others found no room. */
  done: number;
  /** What headers say, each once. */
  frames: readonly JpegFrame[];
  /** Four words for each file that a device may decode: which it is of those asked for, its first byte, its bytes, its frame. */
  places: Uint32Array;
  /** When pictures were taken, by which of the files they are; those that do not say are not there. */
  captured: ReadonlyMap<number, CaptureTime>;
}

/** Words of a file in `places`. */
export const placeWords = 4;
