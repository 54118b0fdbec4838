/** A source of a job as its list has it; what may be secret in its URI is left out. */
export type SourceLine = {
  uri: string;
  /** That of its file when it was listed, before anyone read it: what was written to the file since makes another one. */
  version?: string;
  /** Of a frame of a video: its number, and its time from the first frame, null where the container does not say. */
  frame?: number;
  timestampMs?: number | null;
} & (
  | { quarantined: true }
  | {
      quarantined?: undefined;
      /** That of its map and preview, without extension. */
      name: string;
      width: number;
      height: number;
      counted: number;
      /** SHA-256 in hex. */
      digest: string;
      /** What its file states of when it was captured. */
      captured?: string;
    }
);

/** The names that a list may have, in the folder of a job or pipeline. */
export const listNames = { lines: 'sources.jsonl', rows: 'sources.parquet' } as const;

export type ListName = (typeof listNames)[keyof typeof listNames];

/** The key of what a list of rows says of itself. */
export const headKey = 'halogrid';
