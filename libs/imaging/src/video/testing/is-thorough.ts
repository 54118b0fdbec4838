/** As `isThorough` of the tests of libs/kernels, which this library may not import. */
export const isThorough = Number(process.env.HALOGRID_THOROUGH) > 0;
