/*
 * Where the C code of libjpeg and the SIMD code of libjpeg-turbo compute the same. C has 32 bits and more; SIMD code
 * adds pairs of inputs of each transform of 8 in 16 bits, where they wrap, and saturates the results of the first
 * transform and the pixels; C takes pixels modulo 1024. None of it happens within these bounds, and 32 bits are enough;
 * what passes them is doubt. The photographs of libs/kernels/oracle, at qualities of 1 to 100, have coefficients to
 * 1,024, results of columns to 6,120 and pixels to 272 (measured).
 */

/**
 * The greatest inputs of either transform: coefficients times their quantisers, and the columns' results. Two of them
 * fit 16 bits.
 */
export const greatestInput = 16_383;
/** The greatest pixel before 128 is added and it is limited to 0 … 255: from -512 to this. */
export const greatestPixel = 511;
/** The greatest DC before it is dequantised: libjpeg keeps 16 bits, and so do our entries. */
export const greatestDc = 32_767;
