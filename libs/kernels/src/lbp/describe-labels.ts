import { labelCount } from './labels.ts';
import type { LbpRing } from './parameters.ts';

/** A description of the result's only channel. */
export function channelWords({ labels }: Pick<LbpRing, 'labels'>): string {
  return labels === 'var' ? 'variances of the neighbours of gray pixels' : 'codes of gray pixels';
}

/** A description of what bin i of a histogram of these labels counts. */
export function binWords({ labels, points, nonUniform, convention }: LbpRing): string {
  const others = nonUniform === 'first' ? 'bin 0' : `bin ${labelCount(labels, points) - 1}`;
  const first = nonUniform === 'first' ? 1 : 0;
  switch (labels) {
    case 'all':
      return `pixels of code i; bit b of a code is neighbour b of the ${points} in the order of ${convention}`;
    case 'ror':
      return `pixels whose code, rotated to be the least, is i; bit b of a code is neighbour b of the ${points} in the order of ${convention}`;
    case 'uniform':
      return `pixels of uniform codes with ${first === 1 ? 'i - 1' : 'i'} ones of ${points}; ${others}: all codes that are not uniform`;
    case 'nri-uniform':
      return `pixels of one uniform code each: none, then the runs of 1 to ${points - 1} ones in each of ${points} turns, then all, from bin ${first} on; ${others}: all codes that are not uniform`;
    case 'var':
      throw new RangeError('Variances have no bins');
  }
}
