import type { FoundShard } from '@halogrid/results/found-shard';
import { noZone } from '@halogrid/results/found-shard';
import type { EarlierResult } from '../output/previous/earlier-output.ts';

/** The earlier results of those sources of a block that are at the places `found`, in order. */
export function foundEarlier(
  block: Uint8Array,
  found: readonly number[],
  results: readonly EarlierResult[],
): FoundShard {
  const captured = results.some((result) => result.captured) && {
    localMs: Float64Array.from(results, ({ captured }) => captured?.localMs ?? Number.NaN),
    offsetMinutes: Int16Array.from(results, ({ captured }) => captured?.offsetMinutes ?? noZone),
  };
  return {
    block,
    found: Uint32Array.from(found),
    widths: Uint32Array.from(results, ({ size }) => size.width),
    heights: Uint32Array.from(results, ({ size }) => size.height),
    ...(captured && { captured }),
    parts: results[0]!.parts.map((_, part) => {
      const its = results.map(({ parts }) => parts[part]!);
      const bins = new Float64Array(its.reduce((sum, { bins }) => sum + bins.length, 0));
      let at = 0;
      for (const { bins: own } of its) {
        bins.set(own, at);
        at += own.length;
      }
      return { counted: Float64Array.from(its, ({ counted }) => counted), bins };
    }),
  };
}
