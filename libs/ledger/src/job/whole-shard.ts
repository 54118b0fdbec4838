import type { FoundShard } from '@halogrid/results/found-shard';
import { noZone } from '@halogrid/results/found-shard';
import type { UnfinishedImage } from '../log/job-state.ts';

/** The results of an image whose tiles have all arrived. Its block has no other source. */
export function wholeShard(block: Uint8Array, { size, captured, parts }: UnfinishedImage): FoundShard {
  const { width, height } = size!;
  return {
    block,
    found: Uint32Array.of(0),
    widths: Uint32Array.of(width),
    heights: Uint32Array.of(height),
    ...(captured && {
      captured: {
        localMs: Float64Array.of(captured.localMs),
        offsetMinutes: Int16Array.of(captured.offsetMinutes ?? noZone),
      },
    }),
    parts: parts.map(({ counted, bins }) => ({ counted: Float64Array.of(counted), bins: bins.sums })),
  };
}
