import type { Lease } from '@halogrid/proto';
import type { FoundShard } from '@halogrid/results/found-shard';
import { knownPipelines } from '@halogrid/results/known-sums';
import type { SourceBlock } from '@halogrid/sources/source-block';
import { pipelinesOf } from '../parts/job-parts.ts';

/** For each pipeline, whether its results of a lease's frames are known, so that it need not compute them. */
export type KnownResults = readonly boolean[];

/**
 * Which pipelines know their results of all frames; the others must compute. Undefined if every pipeline must compute,
 * or all results are known. Throws RangeError if known results cannot be read. `block`: the sources of the lease.
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

/** Puts the computed results at the places of their pipelines. The known ones are read from the block later. */
export function withKnown(found: FoundShard, known: KnownResults): FoundShard {
  const computed = found.parts.values();
  return { ...found, parts: known.map((isKnown) => (isKnown ? undefined : computed.next().value!)) };
}
