import type { JpegFrame } from '../frame/jpeg-frame.ts';
import type { ChunkCounts } from './decode-chunk.ts';

/** The sums of the counts before each chunk. The sums of blocks and DC restart at each restart marker. */
export function placeChunks(counts: readonly ChunkCounts[]): ChunkCounts[] {
  let before: ChunkCounts = { restarts: 0, blocks: 0, dc: 0, entries: 0 };
  return counts.map((own) => {
    const place = before;
    before = addCounts(before, own);
    return place;
  });
}

/** The counts of two adjacent parts of the data. Adding is associative, so parts may be added in any grouping. */
export function addCounts(a: ChunkCounts, b: ChunkCounts): ChunkCounts {
  const isNew = b.restarts > 0;
  return {
    restarts: a.restarts + b.restarts,
    blocks: isNew ? b.blocks : a.blocks + b.blocks,
    dc: isNew ? b.dc : (a.dc + b.dc) | 0,
    entries: a.entries + b.entries,
  };
}

/** The index of the block that begins next. */
export const blockAt = ({ restartBlocks }: JpegFrame, { restarts, blocks }: ChunkCounts): number =>
  restarts * restartBlocks + blocks;
