/** A source in the list of a job's sources. Its URI is without secrets. */
export type SourceLine = {
  uri: string;
  /**
   * The version of the file when it was listed, before it was read. A later change of the file gives another version.
   */
  version?: string;
  /**
   * For a frame of a video: its number, and its time in milliseconds from the first frame; null if the container does
   * not state it.
   */
  frame?: number;
  timestampMs?: number | null;
} & (
  | { quarantined: true }
  | {
      quarantined?: undefined;
      /** The name of its map and preview, without extension. */
      name: string;
      width: number;
      height: number;
      counted: number;
      /** SHA-256 in hex. */
      digest: string;
      /** The capture time that the file states, as captureText writes it. */
      captured?: string;
    }
);

/** The names that a list may have, in the folder of a job or pipeline. */
export const listNames = { lines: 'sources.jsonl', rows: 'sources.parquet' } as const;

export type ListName = (typeof listNames)[keyof typeof listNames];

/** The key of the head in the metadata of a list of rows. */
export const headKey = 'halogrid';
