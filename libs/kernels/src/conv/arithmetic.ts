import { greatest, type PixelType } from '@halogrid/geometry';
import type { Parameters, Tolerance } from '../kernel/kernel.ts';
import { ParameterError } from '../kernel/parameter-error.ts';
import { type Matrix, parseMatrix } from './matrix.ts';
import { defaultSigma, gaussian, parseNamedKernel } from './named.ts';
import { type Factors, outerProduct, separate } from './separate.ts';

/**
 * How a convolution is computed. `taps` is the matrix turned by 180 degrees, row by row: tap (r, c) belongs to the
 * pixel r - halo rows below and c - halo columns right of the computed one.
 */
export type Arithmetic =
  /** Sums of taps times pixels in float32, times `scale`. Integer taps have exact sums. */
  | { kind: 'sum'; side: number; taps: Float64Array; scale: number; factors?: Factors }
  /** The root of the sum of the squares of two such sums, both integers. */
  | { kind: 'magnitude'; side: number; taps: readonly [Float64Array, Float64Array] }
  /** Sums of integer taps times pixels, exact, times 2^-shift. */
  | { kind: 'exact'; side: number; taps: Float64Array; shift: number };

/** Integer sums below this are exact in a float32, in any order. */
const exactFloat = 2 ** 24;
/** Integer sums below this, of pixels of either type, are rounded only once on their way to a float32. */
const exactInteger = 2 ** 29;
/** Bound of sum |tap| * 255 before taps are rounded. See `exactShift`. */
const exactSum = 2 ** 42;
/** The largest useful shift: the weights of a Gaussian have the sum 1 and take 34. */
const largestShift = 34;
/** The smallest shift: devices hold a sum in two words, the lower of 12 bits, and round in the upper one. */
const smallestShift = 13;
/** From this side on, two passes take fewer operations than one, including the loads and stores between them. */
const separableSide = 5;

/** How to compute the convolution of complete parameters over pixels of each type. */
export function arithmeticsOf(parameters: Parameters): Readonly<Record<PixelType, Arithmetic>> {
  const { matrices, scale, factors } = filterOf(parameters);
  const side = matrices[0]!.length;
  const [taps, second] = matrices.map((matrix) => Float64Array.from(matrix.flat().reverse()));
  if (second) {
    const magnitude: Arithmetic = { kind: 'magnitude', side, taps: [taps!, second] };
    return { u8: magnitude, u16: magnitude };
  }
  const sum: Sum = { kind: 'sum', side, taps: taps!, scale, factors };
  const isFloat = parameters.as === 'f32';
  return { u8: sumArithmetic(sum, isFloat, 'u8'), u16: sumArithmetic(sum, isFloat, 'u16') };
}

type Sum = Extract<Arithmetic, { kind: 'sum' }>;

/** A float32 sum if it is exact or need not be exact; otherwise sums of integers. */
function sumArithmetic(sum: Sum, isFloat: boolean, pixel: PixelType): Arithmetic {
  const { side, taps, scale } = sum;
  if (hasExactSums(taps, pixel) && (scale === 1 || isFloat)) return sum;
  const isInteger = scale === 1 && taps.every(Number.isInteger);
  const isExact = !isFloat || (isInteger && absoluteSum(taps) * greatest[pixel] <= exactInteger);
  if (!isExact) return sum;
  const weights = taps.map((tap) => tap * scale);
  const shift = exactShift(weights);
  return { kind: 'exact', side, taps: weights.map((weight) => Math.round(weight * 2 ** shift)), shift };
}

/** Whether every sum of these taps times pixels is an integer that a float32 holds, and every partial sum, too. */
export function hasExactSums(taps: Float64Array, pixel: PixelType): boolean {
  return taps.every(Number.isInteger) && absoluteSum(taps) * greatest[pixel] < exactFloat;
}

/** 1e-5 of the range of values of a float32 convolution, or 0 if every sum is exact. */
export function toleranceOf(arithmetic: Arithmetic, pixel: PixelType): Tolerance {
  const white = greatest[pixel];
  switch (arithmetic.kind) {
    case 'exact':
      return { relative: 0, absolute: 0 };
    case 'magnitude':
      // The largest magnitude of sobel.
      return { relative: 0, absolute: 1e-5 * 4 * Math.SQRT2 * white };
    case 'sum': {
      const { taps, scale } = arithmetic;
      const isExact = hasExactSums(taps, pixel);
      return { relative: 0, absolute: isExact ? 0 : 1e-5 * absoluteSum(taps) * white * scale + 1e-30 };
    }
  }
}

/** Throws ParameterError if a matrix is too large to be rounded exactly. */
export function checkExact(parameters: Parameters): void {
  if (parameters.as === 'f32' || parameters.matrix === undefined) return;
  const weights = Float64Array.from(parseMatrix(parameters.matrix).flat());
  if (exactShift(weights) >= smallestShift) return;
  const limit = Math.floor(exactSum / 2 ** smallestShift / 255);
  throw new ParameterError(
    'conv:matrix',
    `a sum of ${absoluteSum(weights)}`,
    `entries whose absolute values have a sum of at most ${limit} with as=${parameters.as}`,
  );
}

/**
 * Binary digits after the point that taps keep: the largest shift for which sum |tap| * 255 * 2^shift is at most 2^42.
 * Rounding adds at most 1/2 to each of the 961 taps, so a sum T is below 2^42 + 2^17 in size. Devices split a tap into
 * floor(tap / 4096) and the 12 bits below. The lower sum is at most 961 * 4095 * 255 < 2^30. So the upper sum, which is
 * (T - lower) / 4096, is below 2^30 + 2^19 in size, and both fit 32 bits with their sign.
 *
 * A 16-bit pixel is 256 times its upper byte plus its lower byte. Its sum is 256 T1 + T0, made of two such sums. It is
 * below 2^50 + 2^25 in size, which a float64 holds.
 */
function exactShift(weights: Float64Array): number {
  const size = absoluteSum(weights) * 255;
  let shift = largestShift;
  while (shift >= smallestShift && size * 2 ** shift > exactSum) shift--;
  return shift;
}

interface Filter {
  /** One matrix, or two for a magnitude. */
  matrices: readonly Matrix[];
  /** The weights are the matrix times `scale`. */
  scale: number;
  /** The matrix's factors, if two passes are faster. */
  factors?: Factors;
}

function filterOf({ kernel, matrix, sigma }: Parameters): Filter {
  if (matrix !== undefined) return separated(JSON.parse(matrix) as Matrix);
  const named = parseNamedKernel(kernel!);
  switch (named.kind) {
    case 'fixed':
      return named.matrices.length === 1 ? separated(named.matrices[0]!) : { matrices: named.matrices, scale: 1 };
    case 'gaussian': {
      const line = gaussian(named.side, sigma === undefined ? defaultSigma(named.side) : Number(sigma));
      const rounded = outerProduct(line, line).map((row) => row.map(Math.fround));
      return { matrices: [rounded], scale: 1, factors: worthwhile({ vertical: line, horizontal: line }) };
    }
    case 'box': {
      // The sum is an integer, so only the product is rounded.
      const ones = Array.from({ length: named.side }, () => 1);
      const scale = Math.fround(1 / named.side ** 2);
      return {
        matrices: [outerProduct(ones, ones)],
        scale,
        factors: worthwhile({ vertical: ones, horizontal: ones }),
      };
    }
  }
}

function separated(matrix: Matrix): Filter {
  const factors = separate(matrix);
  return { matrices: [matrix], scale: 1, factors: factors && worthwhile(factors) };
}

/** The factors of the turned taps, if two passes are faster for their side. */
function worthwhile({ vertical, horizontal }: Factors): Factors | undefined {
  if (vertical.length < separableSide) return undefined;
  return { vertical: vertical.toReversed(), horizontal: horizontal.toReversed() };
}

function absoluteSum(weights: Float64Array): number {
  return weights.reduce((sum, weight) => sum + Math.abs(weight), 0);
}
