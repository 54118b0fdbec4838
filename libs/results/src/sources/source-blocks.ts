import type { SourceLine } from './source-line.ts';

/** The sources of a list, read block by block. */
export interface SourceBlocks {
  /** The first source of each block, then the number of all sources. */
  starts: readonly number[];
  /** How many sources before each block are quarantined. */
  quarantinedBefore: readonly number[];
  /**
   * The sources of a block by their place in it. If `uri` is given, undefined when the block certainly has no such
   * source.
   */
  read(block: number, uri?: string): Promise<((nth: number) => SourceLine) | undefined>;
  /** A source by its number, without the rest of its block; absent if that would take as long. */
  line?(index: number): Promise<SourceLine>;
}
