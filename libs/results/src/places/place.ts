/** A file of an output, as it was when it was looked up. */
export interface StoredFile {
  readonly sizeBytes: number;
  /** Differs for other bytes. */
  readonly version: string;
  /**
   * The bytes from `start` to `end`, or to the end of the file. Rejects with PlaceError if a bucket cannot be read or
   * has other bytes by now.
   */
  read(start: number, end: number): Promise<Buffer<ArrayBuffer>>;
  /** The bytes from `start` to `end`, in pieces. Rejects as `read` does. */
  stream(start?: number, end?: number): AsyncIterable<Buffer>;
}

/** A file or folder directly in a place. */
export interface PlaceEntry {
  name: string;
  isFolder: boolean;
}

/** A file below a place. */
export interface PlacedFile {
  /** Below the place, with '/'. */
  name: string;
  sizeBytes: number;
}

/**
 * Where an output, a folder in it or one of its files is: on this machine or in a bucket. All that reads finished
 * outputs reads them through this, so that it reads both.
 */
export interface Place {
  /** The path, or the s3: URI. From this text `placeAt` makes the place again, in another thread too. */
  readonly at: string;
  /** The file: or s3: URI. */
  readonly uri: string;
  /** A place in this one; names may have '/'. */
  in(...names: string[]): Place;
  /** The file of this place; undefined if there is none. Rejects with PlaceError if a bucket cannot be read. */
  file(): Promise<StoredFile | undefined>;
  /** What is directly in this folder, without links; undefined if there is no folder. Rejects as `file` does. */
  entries(): Promise<PlaceEntry[] | undefined>;
  /** All files in this folder and below it, in the entries whose names `isWanted` accepts. Rejects as `file` does. */
  files(isWanted?: (entry: string) => boolean): AsyncIterable<PlacedFile>;
}

/** A bucket cannot be read, in one sentence. */
export class PlaceError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'PlaceError';
  }
}
