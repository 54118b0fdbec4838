import { gray } from '@halogrid/geometry';
import type { KernelDefinition } from '../kernel.ts';
import { type LbpConventionName, lbpConventions } from './conventions.ts';
import { parseLbpParameters, ringOf } from './parameters.ts';

/**
 * Local Binary Pattern (Ojala, Pietikäinen, Mäenpää 2002): bit i of a pixel's code is 1 where neighbour i of a ring is at
 * least as great as the pixel. Neighbours between pixels are interpolated, and compared in exact integers.
 */
export const lbp: KernelDefinition = {
  name: 'lbp',
  summary: 'Local Binary Pattern: points, radius, labels and the conventions of six implementations',

  parseParameters: parseLbpParameters,
  halo: (parameters) => ringOf(parameters).halo,
  defaultBorder: ({ convention }) => lbpConventions[convention as LbpConventionName].border,
  input: () => gray,
  output: (parameters) => ({ sample: ringOf(parameters).sample, channels: gray }),
  bins: (parameters) => ringOf(parameters).bins,
  minSide: () => 1,
  convention: ({ convention }) => convention!,
};
