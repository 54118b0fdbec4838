import type { Lease } from '@halogrid/proto';
import type { FoundShard } from '@halogrid/results/found-shard';
import { readKnown, type SourceSums } from '@halogrid/results/known-sums';
import { SourceBlock } from '@halogrid/sources/source-block';
import { pipelinesOf } from '../parts/job-parts.ts';

/**
 * Known results of a lease's frames, by pipeline, from an earlier output, in order; undefined for a pipeline that must
 * compute them.
 */
export type KnownResults = readonly (readonly SourceSums[] | undefined)[];

/**
 * Undefined where every pipeline must compute the frames; a pipeline must unless it knows all of them. Throws
 * BlockError or RangeError where known results cannot be read.
 */
export function knownResults(lease: Lease): KnownResults | undefined {
  if (lease.work?.$case !== 'frames') return undefined;
  const block = new SourceBlock(lease.sources);
  if (block.length === 0 || !block.known(0)) return undefined;
  const shapes = pipelinesOf(lease).map(({ shape }) => shape);
  const ofSources = Array.from({ length: block.length }, (_, nth) => {
    const bytes = block.known(nth);
    return bytes ? readKnown(bytes, shapes) : [];
  });
  const known = shapes.map((_, i) => {
    const its = ofSources.flatMap((sums) => sums[i] ?? []);
    return its.length === block.length ? its : undefined;
  });
  return known.includes(undefined) && known.some((its) => its) ? known : undefined;
}

/** Merges the results of the pipelines that computed with the known results of the others. */
export function withKnown(found: FoundShard, known: KnownResults): FoundShard {
  const computed = found.parts.values();
  const parts = known.map((its) => (its ? partOf(its, found.found) : computed.next().value!));
  return { ...found, parts };
}

function partOf(sums: readonly SourceSums[], places: Uint32Array): FoundShard['parts'][number] {
  const each = sums[0]!.bins.length;
  const bins = new Float64Array(each * places.length);
  for (const [row, place] of places.entries()) bins.set(sums[place]!.bins, each * row);
  return { counted: Float64Array.from(places, (place) => sums[place]!.counted), bins };
}
