import type { KernelDefinition } from '../kernel.ts';
import { ParameterError } from '../parameter-error.ts';

/**
 * Order of the ring's bits. The ring is NW, N, NE, E, SE, S, SW, W (clockwise from the upper left).
 *
 * - `nw-cw-msb`: NW is bit 7 … W is bit 0 (the GPU reports; scikit-image's multi-block LBP)
 * - `nw-cw-lsb`: NW is bit 0 … W is bit 7 (LIRE)
 */
export const lbpConventions = ['nw-cw-msb', 'nw-cw-lsb'] as const;

/**
 * Local Binary Pattern of the 3x3 square (Ojala, Pietikäinen, Harwood 1996): bit i of a pixel's code is 1 where ring
 * neighbour i is greater than or equal to the pixel. Nothing is interpolated, so codes are exact on every device.
 */
export const lbp: KernelDefinition = {
  name: 'lbp',
  summary: 'Local Binary Pattern of the 3x3 square, 256 codes',

  parseParameters(given) {
    for (const name of Object.keys(given)) {
      if (name !== 'convention') throw new ParameterError('a parameter of lbp', name, `'convention'`);
    }
    const convention = given.convention ?? 'nw-cw-msb';
    if (!lbpConventions.some((c) => c === convention)) {
      throw new ParameterError('lbp:convention', convention, `one of ${lbpConventions.join(', ')}`);
    }
    return { convention };
  },

  halo: () => 1,
  channels: () => ['gray'],
  bins: () => 256,
  convention: ({ convention }) => convention!,
};
