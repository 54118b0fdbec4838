import type { Lease } from '@halogrid/proto';
import type { FoundShard } from '@halogrid/results/found-shard';
import { knownPipelines } from '@halogrid/results/known-sums';
import type { SourceBlock } from '@halogrid/sources/source-block';
import { pipelinesOf } from '../parts/job-parts.ts';

/** By pipeline, whether its results of a lease's frames are known: then it does not compute them. */
export type KnownResults = readonly boolean[];

/**
 * Undefined where every pipeline must compute the frames; a pipeline must unless it knows all of them. Throws RangeError
 * where known results cannot be read. `block`: the sources of the lease.
 */
export function knownResults(lease: Lease, block: SourceBlock): KnownResults | undefined {
  if (lease.work?.$case !== 'frames' || block.length === 0 || !block.known(0)) return undefined;
  const shapes = pipelinesOf(lease).map(({ shape }) => shape);
  let known = shapes.map(() => true);
  for (let nth = 0; nth < block.length; nth++) {
    const bytes = block.known(nth);
    const its = bytes && knownPipelines(bytes, shapes);
    known = known.map((isKnown, i) => isKnown && its?.[i] === true);
  }
  return known.includes(false) && known.includes(true) ? known : undefined;
}

/** The results of the pipelines that computed; those of the others are read from the block later. */
export function withKnown(found: FoundShard, known: KnownResults): FoundShard {
  const computed = found.parts.values();
  return { ...found, parts: known.map((isKnown) => (isKnown ? undefined : computed.next().value!)) };
}
