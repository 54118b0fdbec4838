/** Whether properties are tried as often as they should be before a change is merged: HALOGRID_THOROUGH=1. */
export const isThorough = process.env.HALOGRID_THOROUGH === '1';

/** How often a property is tried: `full` times if tests are thorough, otherwise a tenth of it. */
export const runs = (full: number): number => (isThorough ? full : Math.ceil(full / 10));
