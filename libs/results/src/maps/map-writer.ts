/** Writes the levels of a map to a temporary place, from which `assembleMap` takes them when they are whole. */
export interface MapWriter {
  /** Takes rows of a level, from the top to the bottom: the bands one after another, each without gaps between rows. */
  writeRows(level: number, y: number, rows: number, strip: Uint8Array): Promise<void>;
  /** Makes what was written durable; nothing follows. */
  finish(): Promise<void>;
  /** Closes what is open where something failed; what was written is the caller's to remove. */
  abort(): Promise<void>;
}
