/*
 * The bounds within which the C code of libjpeg and the SIMD code of libjpeg-turbo compute the same. C has 32 bits or
 * more, and takes pixels modulo 1024. SIMD code adds pairs of inputs of each 8-point transform in 16 bits, which may
 * wrap, and saturates the pixels and the results of the first transform. Within these bounds none of that happens, and
 * 32 bits are enough; anything beyond them is in doubt. The photographs of libs/kernels/oracle, at qualities of 1 to
 * 100, have coefficients up to 1,024, results of columns up to 6,120 and pixels up to 272 (measured).
 */

/**
 * The greatest inputs of either transform: coefficients times their quantisers, and the columns' results. The sum of
 * two fits 16 bits.
 */
export const greatestInput = 16_383;
/** The greatest pixel before 128 is added and it is limited to 0 … 255; the least is -512. */
export const greatestPixel = 511;
/** The greatest DC before it is dequantised: libjpeg keeps 16 bits, and so do the entries of coefficients. */
export const greatestDc = 32_767;
