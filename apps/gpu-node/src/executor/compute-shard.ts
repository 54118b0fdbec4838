import type { FoundResult, Lease, MendedKind, SourceError } from '@halogrid/proto';
import type { FoundShard } from '@halogrid/results/found-shard';
import { FrameOutcomes } from './frame-outcomes.ts';
import { runFrames } from './run-frames.ts';
import { runTile } from './run-tile.ts';
import { runVideo } from './run-video.ts';
import type { ShardRun } from './shard-run.ts';
import type { LeasedSource } from './unpack-lease.ts';

/** The outcomes of the sources of a shard. */
export interface ComputedShard {
  /** Results of a tile, one a pipeline. */
  results: FoundResult[];
  /** Why sources could not be processed, in the order of the lease. */
  errors: SourceError[];
  /** Sources with a result, from whose files bytes were removed. */
  mended: MendedKind[];
  /** Results of frames. */
  frames?: FoundShard;
}

/** Computes the work of a lease. `sources`: the sources of its block, as this node reads them. */
export async function computeShard(
  run: ShardRun,
  work: Lease['work'],
  block: Uint8Array,
  sources: readonly LeasedSource[],
): Promise<ComputedShard> {
  if (!work) throw new Error('The lease has no work');
  if (work.$case === 'tile') {
    const tile = await runTile(run, sources[0], work.value);
    if ('error' in tile) return { results: [], errors: [tile.error], mended: [] };
    return { results: tile.results, errors: [], mended: mendedKinds(tile.mended ? [[0, tile.mended]] : [], sources) };
  }
  const outcomes = new FrameOutcomes(run.job, sources.length);
  const { segment } = work.value;
  if (segment) await runVideo(run, sources, segment, outcomes);
  else await runFrames(run, sources, outcomes);
  const { errors, mended } = outcomes;
  return { results: [], errors, mended: mendedKinds(mended, sources), frames: outcomes.end(block) };
}

/** Sources by the sentence that says which bytes were removed, from those at these positions. */
function mendedKinds(mended: readonly [number, string][], sources: readonly LeasedSource[]): MendedKind[] {
  const kinds = new Map<string, MendedKind>();
  for (const [position, sentence] of mended) {
    const source = sources[position]!.index;
    const kind = kinds.get(sentence) ?? { mended: sentence, sources: 0, source };
    kinds.set(sentence, { ...kind, sources: kind.sources + 1, source: Math.min(kind.source, source) });
  }
  return [...kinds.values()];
}
