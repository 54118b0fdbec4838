import { isThorough } from '@halogrid/kernels/testing';

/**
 * How often something is tried that comes out differently each time, such as a property or a schedule of faults: `few` times, or
 * ten times as often with HALOGRID_THOROUGH=1.
 */
export function repeated(few: number): number {
  return Math.ceil(few * (isThorough ? 10 : 1));
}
