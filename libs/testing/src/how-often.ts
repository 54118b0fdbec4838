/** HALOGRID_THOROUGH: 1 before a change is merged; N to repeat random tests N times as often; 0 unless set. */
const thoroughness = Number(process.env.HALOGRID_THOROUGH ?? 0);

export const isThorough = thoroughness > 0;

/**
 * How often to repeat something random, such as a property or a schedule of faults: `few` times, or `many` times
 * HALOGRID_THOROUGH.
 */
export const repeated = (few: number, many = 5 * few): number => (isThorough ? Math.ceil(many * thoroughness) : few);

/** How often a property is tried: `full` times for HALOGRID_THOROUGH=1, otherwise a tenth of it. */
export const runs = (full: number): number => repeated(Math.ceil(full / 10), full);
