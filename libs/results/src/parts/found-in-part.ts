/** Bytes of a file of a part: whole row groups. */
export interface FilePlace {
  /** Number of the first row group, and how many they are. */
  firstGroup: number;
  groups: number;
  offset: number;
  length: number;
  /** CRC-32 of the bytes. */
  checksum: number;
}

/** Where a part has what a pipeline found. */
export interface PipelinePlace {
  /** Rows of sources.parquet. */
  sources: FilePlace;
  /** Rows of features.parquet; absent where there are none. */
  features?: FilePlace;
}

/** What a pipeline found comes to: pixels counted in each channel, a whole number of any size, and the counts of all cells as varints. */
export interface FoundSums {
  counted: string;
  sums: Uint8Array;
}

/** What some sources of one block come to, whether it is written or not. */
export interface FoundTotals {
  /** How many sources were found. */
  found: number;
  /** Image pixels of all of them. */
  pixels: number;
  /** SHA-256 over the digests of all sources of the block, pipeline by pipeline. */
  digest: Uint8Array;
  /** One a pipeline. */
  sums: readonly FoundSums[];
}

/** What was found of the sources of a block, and where it is written. */
export interface FoundInPart extends FoundTotals {
  /** Name of the part. */
  part: string;
  /** One a pipeline. */
  places: readonly PipelinePlace[];
}
