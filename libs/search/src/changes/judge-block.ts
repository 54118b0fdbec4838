/** What a block of samples shows of a camera's cells. */
export interface BlockSigns {
  readonly cells: number;
  /** Cells that look different from usual. */
  readonly moved: number;
  /** Moved cells that were moved in the previous block as well, and looked alike there. */
  readonly certain: number;
  /** Whether the block begins with the first sample of another view. */
  readonly isAligned: boolean;
  /** Consecutive blocks before this one that showed another view, which has not settled. */
  readonly unsettled: number;
}

/**
 * What a block means:
 *   parts    the view is the known one; single cells may have changed
 *   begins   another view has begun, perhaps within the block: blocks must start again where the view begins
 *   waits    another view, which the next block may confirm
 *   changed  another view, seen in two blocks
 *   usual    the view never settles: this is how the camera looks
 */
export type BlockVerdict = 'parts' | 'begins' | 'waits' | 'changed' | 'usual';

/**
 * The view has changed if at least this share of the cells moved. It is reported once at least this share of the moved
 * cells is certain.
 */
const viewShare = 0.4;
const certainShare = 0.6;
/** A view that has not settled after this many blocks is usual. */
export const keptBlocks = 5;

export function judgeBlock({ cells, moved, certain, isAligned, unsettled }: BlockSigns): BlockVerdict {
  if (moved < viewShare * cells) return 'parts';
  if (certain > 0 && certain >= certainShare * moved) return 'changed';
  if (!isAligned) return 'begins';
  return unsettled + 1 < keptBlocks ? 'waits' : 'usual';
}
