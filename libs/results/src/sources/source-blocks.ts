import type { SourceLine } from './source-line.ts';

/** The sources of a list, some of them at a time. */
export interface SourceBlocks {
  /** The first source of each block, and behind the last the number of sources. */
  starts: readonly number[];
  /** How many sources before each block are quarantined. */
  quarantinedBefore: readonly number[];
  /** The sources of a block by their place in it. Undefined where one of that URI is wanted, and certainly none is. */
  read(block: number, uri?: string): Promise<((nth: number) => SourceLine) | undefined>;
  /** A source by its number, without its block; absent where that takes as long. */
  line?(index: number): Promise<SourceLine>;
}
