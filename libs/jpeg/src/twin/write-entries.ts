import { greatestDc } from '../frame/bounds.ts';
import { type JpegChunk, unpackState } from '../frame/chunk.ts';
import { packEntry } from '../frame/entry.ts';
import { type JpegFrame, lumaBlocks } from '../frame/jpeg-frame.ts';
import { groupBlocks } from '../frame/passes.ts';
import { status } from '../frame/status.ts';
import { type ChunkCounts, decodeChunk } from './decode-chunk.ts';
import { blockAt } from './place.ts';

/** The coefficients of luma without those that are 0. */
export interface Coefficients {
  /** Coefficients block by block in the order of the file; each block begins with its DC. */
  entries: Uint32Array;
  /** For each `groupBlocks` blocks the index of their first entry, and as last item the number of entries. */
  starts: Uint32Array;
}

/** Memory for the coefficients of an image. */
export function createCoefficients(frame: JpegFrame, entries: number): Coefficients {
  const groups = Math.ceil(lumaBlocks(frame) / groupBlocks);
  return { entries: new Uint32Array(entries), starts: new Uint32Array(groups + 1) };
}

/**
 * Decodes a chunk from its true state, and writes its coefficients. `place`: the counts before it. Returns its
 * findings, as in `status`.
 */
export function writeEntries(
  frame: JpegFrame,
  chunk: JpegChunk,
  entry: number,
  place: ChunkCounts,
  into: Coefficients,
): number {
  const { coefficient, block } = unpackState(entry);
  const luma = frame.lumaAcross * frame.lumaDown;
  /** The indexes of the next block, luma block and entry; and the blocks since the last restart marker. */
  let next = blockAt(frame, place);
  let { restarts, blocks: since, entries: at, dc } = place;
  // The last block is in an earlier chunk.
  if (coefficient === 0 && next >= frame.blocks) return 0;
  const inMcu = next - (coefficient === 0 ? 0 : 1);
  let lumaNext = Math.floor(next / frame.mcuBlocks) * luma + lumaBefore(frame, next % frame.mcuBlocks);
  let found = chunk.isOdd || inMcu < 0 || inMcu % frame.mcuBlocks !== block ? status.outOfOrder : 0;
  const put = (place: number, value: number): void => {
    if (at < into.entries.length) into.entries[at] = packEntry(lumaNext - 1, place, value);
    else found |= status.outOfOrder;
    at++;
  };
  decodeChunk(frame, chunk, entry, {
    wantsBlock(bit, limit) {
      if (next < frame.blocks) return true;
      found |= limit === 8 * chunk.end && limit - bit < 8 ? status.complete : status.outOfOrder;
      into.starts[into.starts.length - 1] = at;
      return false;
    },
    restart() {
      const number = (chunk.firstRestart + restarts - place.restarts) & 7;
      restarts++;
      if (next !== restarts * frame.restartBlocks || number !== ((frame.firstRestart + restarts - 1) & 7))
        found |= status.outOfOrder;
      dc = since = 0;
    },
    block(isLuma, difference) {
      if (frame.restartBlocks > 0 && since >= frame.restartBlocks) found |= status.outOfOrder;
      next++;
      since++;
      if (!isLuma) return;
      dc = (dc + difference) | 0;
      if (Math.abs(dc) > greatestDc) found |= status.outOfRange;
      if (lumaNext % groupBlocks === 0) into.starts[lumaNext / groupBlocks] = at;
      lumaNext++;
      put(0, dc);
    },
    ac: put,
    bad() {
      found |= status.badCode;
    },
  });
  return found;
}

/** Blocks of luma before a block of an MCU. */
const lumaBefore = ({ lumaFirst, lumaAcross, lumaDown }: JpegFrame, block: number): number =>
  Math.max(0, Math.min(block - lumaFirst, lumaAcross * lumaDown));
