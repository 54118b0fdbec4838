import { runs } from '@halogrid/kernels/testing';

/**
 * How often something is tried that comes out differently each time, such as a property or a schedule of faults: `few` times, or
 * ten times as often with HALOGRID_THOROUGH=1.
 */
export const repeated = (few: number): number => runs(10 * few);
