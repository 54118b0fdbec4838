import type { JpegFrame } from '../frame/jpeg-frame.ts';
import type { ChunkCounts } from './decode-chunk.ts';

/** All that comes before a chunk: sums, of which those of blocks and DC begin anew at each restart marker. */
export function placeChunks(counts: readonly ChunkCounts[]): ChunkCounts[] {
  let before: ChunkCounts = { restarts: 0, blocks: 0, dc: 0, entries: 0 };
  return counts.map((own) => {
    const place = before;
    before = addCounts(before, own);
    return place;
  });
}

/** The counts of two stretches, one after the other. Adding is associative, so that any number of them is added in any grouping. */
export function addCounts(a: ChunkCounts, b: ChunkCounts): ChunkCounts {
  const isNew = b.restarts > 0;
  return {
    restarts: a.restarts + b.restarts,
    blocks: isNew ? b.blocks : a.blocks + b.blocks,
    dc: isNew ? b.dc : (a.dc + b.dc) | 0,
    entries: a.entries + b.entries,
  };
}

/** The number of the block that begins next. */
export const blockAt = ({ restartBlocks }: JpegFrame, { restarts, blocks }: ChunkCounts): number =>
  restarts * restartBlocks + blocks;
