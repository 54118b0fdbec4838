import { repeated as repeatedAsSaid } from '@halogrid/kernels/testing';

/**
 * How often something is tried that comes out differently each time, such as a property or a schedule of faults: `few` times, or `many`
 * with HALOGRID_THOROUGH=1.
 */
export const repeated = (few: number, many = 5 * few): number => repeatedAsSaid(few, many);
