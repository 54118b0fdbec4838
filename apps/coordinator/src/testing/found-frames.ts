import { FrameTableError, frameOutline, ShardCompleted, splitAnswer } from '@halogrid/proto';
import type { FoundFrames, SourceResult } from '../job/shard.ts';

/** Results of whole frames as a node sends them, in messages of so many bytes of counts. */
export function foundFrames(results: readonly SourceResult[], countsBytes?: number): FoundFrames {
  const found = results.map(({ size, bins, ...result }) => ({ ...result, ...size, bins: Uint32Array.from(bins) }));
  const reports = [...splitAnswer({ ...ShardCompleted.create(), results: found, areFrames: true }, countsBytes)];
  const last = reports.at(-1)!;
  if (last.$case !== 'completed' || !last.value.frames) throw new FrameTableError('There is no table of frames');
  const table = last.value.frames;
  const counts = reports.flatMap(({ value }) => ('counts' in value && value.counts ? [value.counts] : []));
  return { ...frameOutline(table), table, counts };
}
