/**
 * What HALOGRID_THOROUGH says: 1 before a change is merged, more to try what is random so many times as often; 0 unless
 * set.
 */
const thoroughness = Number(process.env.HALOGRID_THOROUGH ?? 0);

export const isThorough = thoroughness > 0;

/**
 * How often something random is tried, such as a property or a schedule of faults: `few` times, or `many` times for
 * each whole HALOGRID_THOROUGH.
 */
export const repeated = (few: number, many = 5 * few): number => (isThorough ? Math.ceil(many * thoroughness) : few);

/** How often a property is tried: `full` times for HALOGRID_THOROUGH=1, otherwise a tenth of it. */
export const runs = (full: number): number => repeated(Math.ceil(full / 10), full);
