/** What was found of a shard of frames, or of some sources of a block: what a part is made of. */
export interface FoundShard {
  /** Block of the sources, as SourceBlock reads it. */
  block: Uint8Array;
  /** Places in the block of the sources that were found, in order; the others could not be processed. */
  found: Uint32Array;
  /** Of the images of these, in pixels. */
  widths: Uint32Array;
  heights: Uint32Array;
  /** Absent where no file states a time: as CaptureTime, NaN of sources of which none is, and `noZone` where it has no zone. */
  captured?: { localMs: Float64Array; offsetMinutes: Int16Array };
  /** One a pipeline: pixels counted in each channel, and the counts of all cells of each source, end to end. */
  parts: { counted: Float64Array; bins: Uint32Array | Float64Array }[];
}

/** Stands for a time whose zone nobody states. */
export const noZone = 0x7fff;
