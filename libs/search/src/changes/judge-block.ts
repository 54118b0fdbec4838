/** What a block of samples shows of a camera's cells. */
export interface BlockSigns {
  readonly cells: number;
  /** Cells that look otherwise than usual. */
  readonly moved: number;
  /** Those of them that looked so in the block before as well, and alike. */
  readonly certain: number;
  /** Whether the block begins with the first sample of another view. */
  readonly isAligned: boolean;
  /** Blocks before it, one after another, that showed another view which has not settled. */
  readonly unsettled: number;
}

/**
 * What follows of a block:
 *   parts    the view is the one that is known; cells of it may have changed, each for itself
 *   begins   another view has begun, maybe within the block: blocks are to begin where it does
 *   waits    another view, which the next block may confirm
 *   changed  another view, seen in two blocks
 *   usual    the view never settles: that is how this camera looks
 */
export type BlockVerdict = 'parts' | 'begins' | 'waits' | 'changed' | 'usual';

/**
 * So many of the cells change where the view does; and so many of those are certain before it is told what became of
 * it.
 */
const viewShare = 0.4;
const certainShare = 0.6;
/** A view that has not settled after so many blocks is usual. */
export const keptBlocks = 5;

export function judgeBlock({ cells, moved, certain, isAligned, unsettled }: BlockSigns): BlockVerdict {
  if (moved < viewShare * cells) return 'parts';
  if (certain > 0 && certain >= certainShare * moved) return 'changed';
  if (!isAligned) return 'begins';
  return unsettled + 1 < keptBlocks ? 'waits' : 'usual';
}
