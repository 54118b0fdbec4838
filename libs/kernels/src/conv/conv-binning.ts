import { greatest, type SampleType } from '@halogrid/geometry';
import type { Binning } from '../kernel/binning.ts';
import type { Arithmetic } from './arithmetic.ts';

/** How results of a convolution are counted. */
export interface ConvBinning extends Binning {
  readonly bins: number;
}

/** The range of possible results. */
interface Range {
  /** At most 0. */
  least: number;
  /** At least 0. */
  most: number;
}

/** The most bins per channel for rounded results: each of the 8161 possible results of log-5 has its own bin. */
const mostIntegerBins = 8192;
/** The most bins per channel for float32 results. */
const mostRealBins = 256;
/** The narrowest width by which float32 can safely be divided. */
const smallestWidth = 2 ** -100;
/** Sums of rounded weights may exceed the exact range: a Gaussian over white gives 255.00001. */
const slack = 1 + 1e-6;

/**
 * The bins of a convolution: they span the range of possible results over 8-bit pixels. Their width is the smallest
 * power of two for which the number of bins is within the limit. `u8` has one bin per value, and so has `i16` if the
 * matrix has at most 8192 possible results. The bins depend neither on the image nor on how it is cut. Results of
 * 16-bit pixels are counted on the same scale: they are divided by 257, which maps the greatest pixel to 255. Results
 * of `u8` are not divided, because they saturate at 255.
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

function narrowest(
  { least, most }: Range,
  mostBins: number,
  smallest: number,
): Pick<ConvBinning, 'bins' | 'first' | 'width'> {
  for (let width = Math.max(smallest, 2 ** Math.floor(Math.log2((most - least) / mostBins))); ; width *= 2) {
    // Adding 0 turns -0 into 0.
    const first = Math.floor(least / width) + 0;
    const bins = Math.floor(most / width) - first + 1;
    if (bins <= mostBins) return { bins, first, width };
  }
}

/**
 * The range of results over 8-bit pixels: the least has white pixels under all negative weights and black elsewhere,
 * the greatest the opposite.
 */
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

/** A range limited to i16, its ends rounded away from 0 if they are halves. */
function saturated({ least, most }: Range): Range {
  return { least: Math.max(-Math.round(-least), -32768), most: Math.min(Math.round(most), 32767) };
}

const sumBelow = (taps: Float64Array): number => taps.reduce((sum, tap) => sum + Math.min(tap, 0), 0);
const sumAbove = (taps: Float64Array): number => taps.reduce((sum, tap) => sum + Math.max(tap, 0), 0);
