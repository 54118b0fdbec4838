import type { Strategy } from '@halogrid/kernels/gpu';

/** The first strategy of each name. */
export function firstOfEachName(strategies: readonly Strategy[]): Strategy[] {
  return strategies.filter(({ name }, i) => strategies.findIndex((other) => other.name === name) === i);
}

/** The shape of a workgroup, as reports write that of a thread block: `32x8`. */
export const laneShape = ({ lanes }: Strategy): string => `${lanes.width}x${lanes.height}`;
