import type { JpegChunk } from '../frame/chunk.ts';
import type { JpegFrame } from '../frame/jpeg-frame.ts';
import { groupChunks, guess, settlePasses } from '../frame/passes.ts';
import { type ChunkCounts, decodeChunk } from './decode-chunk.ts';

/** A chunk that was decoded from the state `entry`. */
export interface DecodedChunk {
  entry: number;
  exit: number;
  counts: ChunkCounts;
}

/**
 * Decodes chunks, group by group, until each group begins where the one before ended. In the first pass every group but
 * the first begins with a guess; in each later pass with the last end of the group before. Within a group chunks are
 * decoded in order, which gives the same as a workgroup whose lanes decode again until nothing changes. `settled` is
 * false if groups still disagree after the last pass.
 */
export function synchronise(
  frame: JpegFrame,
  chunks: readonly JpegChunk[],
  passes = settlePasses,
): { decoded: DecodedChunk[]; settled: boolean } {
  const decoded: DecodedChunk[] = new Array(chunks.length);
  const groups = Math.ceil(chunks.length / groupChunks);
  let entries: number[] = new Array(groups).fill(guess);
  for (let pass = 0; pass < passes; pass++) {
    for (const [group, entry] of entries.entries()) decodeGroup(frame, chunks, group, entry, decoded);
    entries = entriesOf(decoded, groups);
  }
  return { decoded, settled: entries.every((entry, group) => decoded[group * groupChunks]?.entry === entry) };
}

/** The state with which each group begins if the one before is right. */
const entriesOf = (decoded: readonly DecodedChunk[], groups: number): number[] =>
  Array.from({ length: groups }, (_, group) => (group === 0 ? guess : decoded[group * groupChunks - 1]!.exit));

function decodeGroup(
  frame: JpegFrame,
  chunks: readonly JpegChunk[],
  group: number,
  first: number,
  decoded: DecodedChunk[],
): void {
  let entry = first;
  const end = Math.min((group + 1) * groupChunks, chunks.length);
  for (let i = group * groupChunks; i < end; i++) {
    if (decoded[i]?.entry !== entry) decoded[i] = { entry, ...decodeChunk(frame, chunks[i]!, entry) };
    entry = decoded[i]!.exit;
  }
}
