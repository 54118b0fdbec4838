import { greatest, type PixelType, type SampleType } from '@halogrid/geometry';
import type { Binning } from '../kernel/binning.ts';
import type { Arithmetic } from './arithmetic.ts';

/** How results of a convolution are counted. */
export interface ConvBinning extends Binning {
  readonly bins: number;
}

/** What the matrix can give. */
interface Range {
  /** At most 0. */
  least: number;
  /** At least 0. */
  most: number;
}

/** Bins a channel at most of results that are rounded: the 8161 results that log-5 can have are one bin each. */
const mostIntegerBins = 8192;
/** The same of float32. */
const mostRealBins = 256;
/** As narrow as float32 divides by without trouble. */
const smallestWidth = 2 ** -100;
/** Sums of rounded weights may be above what the weights say: a Gaussian of white is 255.00001. */
const slack = 1 + 1e-6;

/**
 * The bins of a convolution: the range that its matrix can give over pixels of 8 bits, in bins whose width is the
 * smallest power of two with which they are few enough. `u8` has a bin for every value. `i16` has one, too, where the
 * matrix can give at most 8192. Neither the image nor its cut matters. Results of 16-bit pixels are counted on the same
 * scale: divided by 257, which makes the greatest pixel 255; those of `u8` are not, as they saturate at 255.
 */
export function binningOf(as: SampleType, arithmetic: Arithmetic): ConvBinning {
  if (as === 'u8') return { bins: 256, first: 0, width: 1, isExact: true, isOneValue: true, deepScale: 1 };
  const isExact = as === 'i16';
  const range = rangeOf(arithmetic);
  const binning = isExact
    ? narrowest(saturated(range), mostIntegerBins, 1)
    : narrowest({ ...range, most: range.most * slack }, mostRealBins, smallestWidth);
  const deepScale = greatest.u16 / greatest.u8;
  return { ...binning, isExact, isOneValue: isExact && binning.width === 1, deepScale };
}

/** The width of a bin in results of pixels of that type. */
export function stepOf({ width, deepScale }: ConvBinning, reads: PixelType): number {
  return reads === 'u8' ? width : width * deepScale;
}

/** The bin of a result: the nearest one where it is beyond all. */
export function binOf(value: number, binning: ConvBinning, reads: PixelType): number {
  const { bins, first } = binning;
  return Math.min(Math.max(Math.floor(value / stepOf(binning, reads)) - first, 0), bins - 1);
}

function narrowest(
  { least, most }: Range,
  mostBins: number,
  smallest: number,
): Pick<ConvBinning, 'bins' | 'first' | 'width'> {
  for (let width = Math.max(smallest, 2 ** Math.floor(Math.log2((most - least) / mostBins))); ; width *= 2) {
    // A sum with 0 is never -0.
    const first = Math.floor(least / width) + 0;
    const bins = Math.floor(most / width) - first + 1;
    if (bins <= mostBins) return { bins, first, width };
  }
}

/** Results of 8-bit pixels, from black where every weight's pixel is the worst to white where it is the best. */
function rangeOf(arithmetic: Arithmetic): Range {
  const white = greatest.u8;
  switch (arithmetic.kind) {
    case 'magnitude': {
      const sides = arithmetic.taps.map((taps) => Math.max(-sumBelow(taps), sumAbove(taps)));
      return { least: 0, most: white * Math.hypot(...sides) };
    }
    case 'sum':
    case 'exact': {
      const unit = arithmetic.kind === 'sum' ? arithmetic.scale : 2 ** -arithmetic.shift;
      return { least: white * sumBelow(arithmetic.taps) * unit, most: white * sumAbove(arithmetic.taps) * unit };
    }
  }
}

/** A range as i16 holds it, its ends rounded away from 0 where they are halves. */
function saturated({ least, most }: Range): Range {
  return { least: Math.max(-Math.round(-least), -32768), most: Math.min(Math.round(most), 32767) };
}

const sumBelow = (taps: Float64Array): number => taps.reduce((sum, tap) => sum + Math.min(tap, 0), 0);
const sumAbove = (taps: Float64Array): number => taps.reduce((sum, tap) => sum + Math.max(tap, 0), 0);
