/** Whether tests repeat what is random ten times as often. */
export const isThorough = Number(process.env.HALOGRID_THOROUGH) > 0;
