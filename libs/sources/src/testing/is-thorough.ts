/** Whether random tests repeat ten times as often. */
export const isThorough = Number(process.env.HALOGRID_THOROUGH) > 0;
