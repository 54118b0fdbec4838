import { gray } from '@halogrid/geometry';
import type { KernelDefinition } from '../kernel/kernel.ts';
import { ParameterError } from '../kernel/parameter-error.ts';

/** Names of the four bands: the direction of the derivatives in degrees, counter-clockwise from east. */
const directions = ['0', '45', '90', '135'] as const;
const towards = ['east', 'north-east', 'north', 'north-west'] as const;

const minOrder = 2;
const maxOrder = 6;

/** The settings that complete parameters stand for. */
export interface LdpSettings {
  readonly order: number;
}

/**
 * Local Derivative Pattern of order n (Zhang, Gao, Zhao, Liu 2010). In each direction the image is differentiated n - 1
 * times; a derivative is a pixel minus the next one in that direction. A ring neighbour's bit is 1 if its derivative
 * times that of the pixel is not positive. The ring NW, N, NE, E, SE, S, SW, W is bits 7 … 0. Everything is an integer,
 * so codes are exact on every device.
 */
export const ldp: KernelDefinition<LdpSettings> = {
  summary: 'Local Derivative Pattern of order 2 to 6 in four directions, 256 codes each',

  complete(given) {
    for (const name of Object.keys(given)) {
      if (name !== 'order') throw new ParameterError('a parameter of ldp', name, ['order']);
    }
    const order = given.order ?? '3';
    if (!/^\d+$/.test(order) || Number(order) < minOrder || Number(order) > maxOrder) {
      throw new ParameterError('ldp:order', order, `an integer from ${minOrder} to ${maxOrder}`);
    }
    return { order: String(Number(order)) };
  },

  parse: ({ order }) => ({ order: Number(order) }),
  halo: ({ order }) => order,
  defaultBorder: () => 'interior',
  input: () => gray,
  output: () => ({ sample: 'u8', channels: directions }),
  meaning: () => 'labels',
  describe: ({ order }) => ({
    channels: directions.map(
      (degrees, i) => `derivatives of order ${order - 1} towards ${degrees} degrees (${towards[i]})`,
    ),
    bin: 'pixels of code i; bits 7 to 0 of a code are the neighbours NW, N, NE, E, SE, S, SW, W',
  }),
  bins: () => 256,
  minSide: () => 1,
  convention: () => 'zhang-nw-cw-msb',
};

/**
 * The coefficients of the derivative that `order` compares, for the pixels along a direction, nearest first: 1 -2 1 for
 * order 3.
 */
export function derivativeCoefficients(order: number): number[] {
  const coefficients = [1];
  for (let k = 1; k < order; k++) coefficients.push((-coefficients[k - 1]! * (order - k)) / k);
  return coefficients;
}
