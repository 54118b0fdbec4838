import { gray } from '@halogrid/geometry';
import type { KernelDefinition } from '../kernel/kernel.ts';
import { lbpConventions } from './conventions.ts';
import { binWords, channelWords } from './describe-labels.ts';
import { completeLbp, type LbpRing, ringOf } from './parameters.ts';

/**
 * Local Binary Pattern (Ojala, Pietikäinen, Mäenpää 2002): bit i of a pixel's code is 1 if neighbour i of a ring is at
 * least as great as the pixel. Neighbours between pixels are interpolated, and compared in exact integers.
 */
export const lbp: KernelDefinition<LbpRing> = {
  summary: 'Local Binary Pattern: points, radius, labels and the conventions of six implementations',

  complete: completeLbp,
  parse: ringOf,
  halo: ({ halo }) => halo,
  defaultBorder: ({ convention }) => lbpConventions[convention].border,
  input: () => gray,
  output: ({ sample }) => ({ sample, channels: gray }),
  meaning: ({ labels }) => (labels === 'var' ? 'values' : 'labels'),
  // Variances are sums of f32, whose rounding errors are proportional to them.
  tolerance: () => ({ relative: 1e-5, absolute: 0 }),
  describe: (ring) => ({ channels: [channelWords(ring)], bin: ring.bins > 0 ? binWords(ring) : undefined }),
  bins: ({ bins }) => bins,
  minSide: () => 1,
  convention: ({ convention }) => convention,
};
